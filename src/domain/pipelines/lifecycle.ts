import type { LifecycleStage, Pipeline } from '../../entities/pipelines/pipeline.js';
import { conflict } from '../../errors.js';

/** What moves a definition from one stage of its life to the next (platform document, Pipeline lifecycle stages). */
const MOVES = {
  validation: { from: 'DRAFT', to: 'VALIDATED' },
  binding: { from: 'VALIDATED', to: 'SCHEDULED' },
  operation: { from: 'SCHEDULED', to: 'ACTIVE' },
  deprecation: { from: 'ACTIVE', to: 'DEPRECATED' },
  retirement: { from: 'DEPRECATED', to: 'RETIRED' },
} as const satisfies Record<string, { from: LifecycleStage; to: LifecycleStage }>;

export type LifecycleMove = keyof typeof MOVES;

/** Makes the move from the one stage it starts at; at any other the pipeline stays where it is. */
export function advance(pipeline: Pipeline, move: LifecycleMove): void {
  const { from, to } = MOVES[move];
  if (pipeline.lifecycleStage === from) pipeline.lifecycleStage = to;
}

/** @throws CONFLICT at any stage but the one the move starts at */
export function requireMove(pipeline: Pipeline, move: LifecycleMove): void {
  const { from, to } = MOVES[move];
  if (pipeline.lifecycleStage === from) return;
  throw conflict(`A pipeline becomes ${to} from ${from}; this one is ${pipeline.lifecycleStage}`, {
    lifecycleStage: pipeline.lifecycleStage,
    required: from,
  });
}

/** @throws CONFLICT for a pipeline that is no longer executed */
export function requireRunnable(pipeline: Pipeline): void {
  if (pipeline.lifecycleStage !== 'RETIRED') return;
  throw conflict('A RETIRED pipeline does not run', { lifecycleStage: pipeline.lifecycleStage });
}
