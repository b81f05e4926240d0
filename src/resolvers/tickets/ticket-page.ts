import { Field, ObjectType } from 'type-graphql';
import { Ticket } from '../../entities/tickets/ticket.js';
import { PageOf } from '../page.js';

@ObjectType()
export class TicketPage extends PageOf {
  @Field(() => [Ticket])
  data!: Ticket[];
}
