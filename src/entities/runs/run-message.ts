import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

export type RunMessageType = 'run' | 'task' | 'log';

/** What a watcher of a run is told, in order: its state, its tasks' states, its log lines. */
@Entity()
export class RunMessage {
  @PrimaryKey({ type: 'uuid' })
  runId!: string;

  /** Counts up within the run, without gaps. */
  @PrimaryKey({ type: 'integer' })
  seq!: number;

  @Property({ type: 'text' })
  type!: RunMessageType;

  @Property({ type: 'json' })
  body!: Record<string, unknown>;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  timestamp!: Date;
}
