import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** How far the incremental sources of a pipeline have been read by runs that succeeded. */
@Entity()
export class SourceWatermark {
  @PrimaryKey({ type: 'uuid' })
  pipelineId!: string;

  @PrimaryKey({ type: 'text' })
  taskId!: string;

  /** As text; the engine compares it as the column's own type. */
  @Property({ type: 'text' })
  value!: string;

  /** What was read: the table and column, as src/domain/runs/watermarks.ts writes them. */
  @Property({ type: 'text', default: '' })
  source!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  updatedAt!: Date;
}
