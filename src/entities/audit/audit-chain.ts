import { BigIntType } from '@mikro-orm/core';
import { Entity, Filter, PrimaryKey, Property, Trigger } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** The end of one organization's audit chain: whoever appends holds this row until the commit. */
@Entity()
@Filter(organizationFilter)
@Trigger({
  name: 'audit_chain_only_grows',
  timing: 'before',
  events: ['update', 'delete'],
  forEach: 'row',
  body: `
    IF TG_OP = 'UPDATE' AND NEW.organization_id = OLD.organization_id
      AND (NEW.length = OLD.length + 1 OR (NEW.length = OLD.length AND NEW.head = OLD.head)) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'An audit chain only grows' USING ERRCODE = 'restrict_violation';
  `,
})
export class AuditChain {
  @PrimaryKey({ type: 'text' })
  organizationId!: string;

  /** How many entries it has, which is the position of the last one. */
  @Property({ type: new BigIntType('number') })
  length!: number;

  /** Hash of the last entry. */
  @Property({ type: 'text' })
  head!: string;
}
