import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { text } from '../storable-text.js';

const MAX_DEFINITION_BYTES = 1_048_576;

const cron = z.string().superRefine((expression, issues) => {
  if (expression.trim().split(/\s+/).length !== 5) {
    issues.addIssue({
      code: 'custom',
      message: 'must be a cron expression of 5 fields',
      params: { constraint: 'isCron' },
    });
    return;
  }
  try {
    CronExpressionParser.parse(expression);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    issues.addIssue({
      code: 'custom',
      message: `is no cron expression: ${reason}`,
      params: { constraint: 'isCron' },
    });
  }
});

const channelNames = z.array(text().min(1).max(255)).max(20).optional();

const fields = {
  name: text().trim().min(1).max(255),
  description: text().max(10_000).nullish(),
  yamlDefinition: text()
    .min(1)
    .refine((yaml) => Buffer.byteLength(yaml) <= MAX_DEFINITION_BYTES, {
      error: 'must not be larger than 1 MiB',
      params: { constraint: 'maxLength' },
    }),
  scheduleCron: cron.nullish(),
  tags: z.array(text().min(1).max(64)).max(50),
  sourceConnectionId: z.uuid().nullish(),
  targetConnectionId: z.uuid().nullish(),
  maxRetries: z.int().min(0).max(100),
  retryDelaySeconds: z.int().min(0).max(86_400),
  timeoutSeconds: z.int().min(1).max(604_800),
  notifications: z.strictObject({ onSuccess: channelNames, onFailure: channelNames }).nullish(),
  isActive: z.boolean(),
};

const { name, yamlDefinition, ...optional } = fields;

export const yamlDefinitionSchema = z.object({ yamlDefinition });
export const createPipelineSchema = z.object({ name, yamlDefinition, ...z.object(optional).partial().shape });
export const updatePipelineSchema = z.object(fields).partial();

export type CreatePipeline = z.input<typeof createPipelineSchema>;
export type UpdatePipeline = z.input<typeof updatePipelineSchema>;
