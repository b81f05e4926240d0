import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { Masked } from '../../entities/masked.js';
import { LifecycleStage } from '../../entities/pipelines/pipeline.js';
import { RunEngine } from '../../entities/runs/run-enums.js';

const DefinitionTaskKind = {
  source: 'source',
  transformation: 'transformation',
  target: 'target',
} as const;
type DefinitionTaskKind = keyof typeof DefinitionTaskKind;
registerEnumType(DefinitionTaskKind, { name: 'DefinitionTaskKind' });

@ObjectType({ description: 'Something wrong at one place of a definition.' })
class DefinitionError {
  @Field(() => Int, { description: 'From 1.' })
  line!: number;

  @Field(() => Int, { description: 'From 1.' })
  column!: number;

  @Field(() => String, { description: 'For example transformations[0].inputs[1]; empty for the whole.' })
  @Masked('config')
  path!: string;

  @Field(() => String)
  @Masked('config')
  message!: string;
}

@ObjectType({ description: 'Something allowed that is probably not meant.' })
class DefinitionWarning extends DefinitionError {
  @Field(() => String, { description: 'Name of the rule, for example unused-result.' })
  @Masked('never')
  rule!: string;
}

@ObjectType()
class DefinitionTask {
  @Field(() => String)
  @Masked('never')
  id!: string;

  @Field(() => DefinitionTaskKind)
  kind!: DefinitionTaskKind;

  @Field(() => String)
  @Masked('never')
  type!: string;

  @Field(() => [String], { description: 'The tasks whose results it reads.' })
  @Masked('never')
  inputs!: readonly string[];

  @Field(() => [String], { description: 'The tasks that must finish before it.' })
  @Masked('never')
  dependsOn!: readonly string[];

  @Field(() => Int, { description: 'Tasks of one level may run at the same time; 0 waits for nothing.' })
  level!: number;
}

@ObjectType({ description: 'What a definition comes to, or all that is wrong with it.' })
export class DefinitionReport {
  @Field(() => Boolean)
  valid!: boolean;

  @Field(() => [DefinitionError], { description: 'In the order of the text, at most 100.' })
  errors!: readonly DefinitionError[];

  @Field(() => [DefinitionWarning], { description: 'Of a valid definition; at most 100.' })
  warnings!: readonly DefinitionWarning[];

  @Field(() => RunEngine, { nullable: true })
  engine!: RunEngine | null;

  @Field(() => Int, { nullable: true })
  taskCount!: number | null;

  @Field(() => [DefinitionTask], { nullable: true, description: 'Each after those it waits for.' })
  tasks!: readonly DefinitionTask[] | null;
}

@ObjectType()
export class PipelineReport extends DefinitionReport {
  @Field(() => Int, { description: 'The version that was judged.' })
  version!: number;

  @Field(() => LifecycleStage)
  lifecycleStage!: LifecycleStage;
}
