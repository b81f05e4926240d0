// Written by npm run generate from the .graphql file beside it.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type SortOrder =
  | 'asc'
  | 'desc';

/** closed and cancelled are final. */
export type TicketStatus =
  | 'new'
  | 'open'
  | 'in_progress'
  | 'pending'
  | 'on_hold'
  | 'resolved'
  | 'closed'
  | 'cancelled';

export type HoldReason =
  | 'awaiting_change'
  | 'awaiting_problem'
  | 'awaiting_vendor';

export type TicketPriority =
  | 'critical'
  | 'high'
  | 'medium'
  | 'low';

/** Impact or urgency; the two together give the priority when none is named. */
export type TicketLevel =
  | 'high'
  | 'medium'
  | 'low';

export type TicketType =
  | 'incident'
  | 'service_request'
  | 'problem'
  | 'task';

export type TicketSource =
  | 'api'
  | 'email'
  | 'connector'
  | 'alert'
  | 'workflow';

/** Several values of one field mean any of them; the fields all count. */
export type TicketFilterInput = {
  readonly status?: ReadonlyArray<TicketStatus> | null | undefined;
  readonly priority?: ReadonlyArray<TicketPriority> | null | undefined;
  readonly type?: ReadonlyArray<TicketType> | null | undefined;
  readonly assigneeId?: ReadonlyArray<string> | null | undefined;
  readonly teamId?: ReadonlyArray<string> | null | undefined;
  readonly requesterId?: ReadonlyArray<string> | null | undefined;
  readonly category?: ReadonlyArray<string> | null | undefined;
  readonly tag?: ReadonlyArray<string> | null | undefined;
  /** Full text over title and description: words, "a phrase", or, -not. */
  readonly q?: string | null | undefined;
  readonly createdAfter?: string | null | undefined;
  readonly createdBefore?: string | null | undefined;
  readonly updatedAfter?: string | null | undefined;
};

/** priority goes by rank; tickets without a due time come last. */
export type TicketSortField =
  | 'createdAt'
  | 'updatedAt'
  | 'priority'
  | 'status'
  | 'title'
  | 'number'
  | 'dueAt';

export type CreateTicketInput = {
  /** At most 65,536 characters. */
  readonly description?: string | null | undefined;
  readonly type?: TicketType | null | undefined;
  /** From impact and urgency when absent. */
  readonly priority?: TicketPriority | null | undefined;
  readonly impact?: TicketLevel | null | undefined;
  readonly urgency?: TicketLevel | null | undefined;
  readonly category?: string | null | undefined;
  readonly subcategory?: string | null | undefined;
  /** The caller when absent. */
  readonly requesterId?: string | null | undefined;
  readonly assigneeId?: string | null | undefined;
  readonly teamId?: string | null | undefined;
  /** At most 50 of 64 characters. */
  readonly tags?: ReadonlyArray<string> | null | undefined;
  /** At most 32 KiB as JSON; replaced as a whole. */
  readonly customFields?: Record<string, unknown> | null | undefined;
  /** 1 to 255 characters, not blank. */
  readonly title: string;
};

/** What is absent stays as it is, null clears. */
export type UpdateTicketInput = {
  /** At most 65,536 characters. */
  readonly description?: string | null | undefined;
  readonly type?: TicketType | null | undefined;
  /** From impact and urgency when absent. */
  readonly priority?: TicketPriority | null | undefined;
  readonly impact?: TicketLevel | null | undefined;
  readonly urgency?: TicketLevel | null | undefined;
  readonly category?: string | null | undefined;
  readonly subcategory?: string | null | undefined;
  /** The caller when absent. */
  readonly requesterId?: string | null | undefined;
  readonly assigneeId?: string | null | undefined;
  readonly teamId?: string | null | undefined;
  /** At most 50 of 64 characters. */
  readonly tags?: ReadonlyArray<string> | null | undefined;
  /** At most 32 KiB as JSON; replaced as a whole. */
  readonly customFields?: Record<string, unknown> | null | undefined;
  readonly title?: string | null | undefined;
  readonly status?: TicketStatus | null | undefined;
  /** Goes with on_hold, which needs it. */
  readonly holdReason?: HoldReason | null | undefined;
  /** Goes with resolved and closed. */
  readonly resolution?: string | null | undefined;
};

export type PagesFragment = { readonly pagination: { readonly page: number | null, readonly limit: number, readonly total: number, readonly totalPages: number, readonly hasMore: boolean } };

export type TicketWholeFragment = { readonly id: string, readonly number: number, readonly title: string, readonly description: string | null, readonly status: TicketStatus, readonly holdReason: HoldReason | null, readonly priority: TicketPriority, readonly impact: TicketLevel | null, readonly urgency: TicketLevel | null, readonly type: TicketType, readonly category: string | null, readonly subcategory: string | null, readonly tags: ReadonlyArray<string>, readonly customFields: Record<string, unknown>, readonly requesterId: string, readonly assigneeId: string | null, readonly teamId: string | null, readonly source: TicketSource, readonly resolution: string | null, readonly externalRefs: ReadonlyArray<string>, readonly createdAt: string, readonly updatedAt: string, readonly resolvedAt: string | null, readonly closedAt: string | null, readonly version: number };

export type ListTicketsQueryVariables = Exact<{
  filter?: TicketFilterInput | null | undefined;
  page?: number | null | undefined;
  limit?: number | null | undefined;
  sortBy?: TicketSortField | null | undefined;
  sortOrder?: SortOrder | null | undefined;
  startingAfter?: string | null | undefined;
  endingBefore?: string | null | undefined;
}>;


export type ListTicketsQuery = { readonly tickets: { readonly hasMore: boolean | null, readonly cursor: string | null, readonly data: ReadonlyArray<{ readonly id: string, readonly number: number, readonly title: string, readonly description: string | null, readonly status: TicketStatus, readonly holdReason: HoldReason | null, readonly priority: TicketPriority, readonly impact: TicketLevel | null, readonly urgency: TicketLevel | null, readonly type: TicketType, readonly category: string | null, readonly subcategory: string | null, readonly tags: ReadonlyArray<string>, readonly customFields: Record<string, unknown>, readonly requesterId: string, readonly assigneeId: string | null, readonly teamId: string | null, readonly source: TicketSource, readonly resolution: string | null, readonly externalRefs: ReadonlyArray<string>, readonly createdAt: string, readonly updatedAt: string, readonly resolvedAt: string | null, readonly closedAt: string | null, readonly version: number }>, readonly meta: { readonly pagination: { readonly page: number | null, readonly limit: number, readonly total: number, readonly totalPages: number, readonly hasMore: boolean } } } };

export type GetTicketQueryVariables = Exact<{
  id: string;
}>;


export type GetTicketQuery = { readonly ticket: { readonly id: string, readonly number: number, readonly title: string, readonly description: string | null, readonly status: TicketStatus, readonly holdReason: HoldReason | null, readonly priority: TicketPriority, readonly impact: TicketLevel | null, readonly urgency: TicketLevel | null, readonly type: TicketType, readonly category: string | null, readonly subcategory: string | null, readonly tags: ReadonlyArray<string>, readonly customFields: Record<string, unknown>, readonly requesterId: string, readonly assigneeId: string | null, readonly teamId: string | null, readonly source: TicketSource, readonly resolution: string | null, readonly externalRefs: ReadonlyArray<string>, readonly createdAt: string, readonly updatedAt: string, readonly resolvedAt: string | null, readonly closedAt: string | null, readonly version: number } };

export type CreateTicketMutationVariables = Exact<{
  input: CreateTicketInput;
}>;


export type CreateTicketMutation = { readonly createTicket: { readonly id: string, readonly number: number, readonly title: string, readonly description: string | null, readonly status: TicketStatus, readonly holdReason: HoldReason | null, readonly priority: TicketPriority, readonly impact: TicketLevel | null, readonly urgency: TicketLevel | null, readonly type: TicketType, readonly category: string | null, readonly subcategory: string | null, readonly tags: ReadonlyArray<string>, readonly customFields: Record<string, unknown>, readonly requesterId: string, readonly assigneeId: string | null, readonly teamId: string | null, readonly source: TicketSource, readonly resolution: string | null, readonly externalRefs: ReadonlyArray<string>, readonly createdAt: string, readonly updatedAt: string, readonly resolvedAt: string | null, readonly closedAt: string | null, readonly version: number } };

export type UpdateTicketMutationVariables = Exact<{
  id: string;
  input: UpdateTicketInput;
}>;


export type UpdateTicketMutation = { readonly updateTicket: { readonly id: string, readonly number: number, readonly title: string, readonly description: string | null, readonly status: TicketStatus, readonly holdReason: HoldReason | null, readonly priority: TicketPriority, readonly impact: TicketLevel | null, readonly urgency: TicketLevel | null, readonly type: TicketType, readonly category: string | null, readonly subcategory: string | null, readonly tags: ReadonlyArray<string>, readonly customFields: Record<string, unknown>, readonly requesterId: string, readonly assigneeId: string | null, readonly teamId: string | null, readonly source: TicketSource, readonly resolution: string | null, readonly externalRefs: ReadonlyArray<string>, readonly createdAt: string, readonly updatedAt: string, readonly resolvedAt: string | null, readonly closedAt: string | null, readonly version: number } };

export const PagesFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Pages"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PageMeta"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pagination"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"page"}},{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"totalPages"}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}}]}}]}}]} as unknown as DocumentNode<PagesFragment, unknown>;
export const TicketWholeFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"TicketWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Ticket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"holdReason"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"impact"}},{"kind":"Field","name":{"kind":"Name","value":"urgency"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"category"}},{"kind":"Field","name":{"kind":"Name","value":"subcategory"}},{"kind":"Field","name":{"kind":"Name","value":"tags"}},{"kind":"Field","name":{"kind":"Name","value":"customFields"}},{"kind":"Field","name":{"kind":"Name","value":"requesterId"}},{"kind":"Field","name":{"kind":"Name","value":"assigneeId"}},{"kind":"Field","name":{"kind":"Name","value":"teamId"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"resolution"}},{"kind":"Field","name":{"kind":"Name","value":"externalRefs"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"resolvedAt"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<TicketWholeFragment, unknown>;
export const ListTicketsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ListTickets"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"TicketFilterInput"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"page"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"limit"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"sortBy"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"TicketSortField"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"sortOrder"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"SortOrder"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"startingAfter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"endingBefore"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"tickets"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"page"},"value":{"kind":"Variable","name":{"kind":"Name","value":"page"}}},{"kind":"Argument","name":{"kind":"Name","value":"limit"},"value":{"kind":"Variable","name":{"kind":"Name","value":"limit"}}},{"kind":"Argument","name":{"kind":"Name","value":"sortBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"sortBy"}}},{"kind":"Argument","name":{"kind":"Name","value":"sortOrder"},"value":{"kind":"Variable","name":{"kind":"Name","value":"sortOrder"}}},{"kind":"Argument","name":{"kind":"Name","value":"startingAfter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"startingAfter"}}},{"kind":"Argument","name":{"kind":"Name","value":"endingBefore"},"value":{"kind":"Variable","name":{"kind":"Name","value":"endingBefore"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"data"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TicketWhole"}}]}},{"kind":"Field","name":{"kind":"Name","value":"meta"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Pages"}}]}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"TicketWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Ticket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"holdReason"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"impact"}},{"kind":"Field","name":{"kind":"Name","value":"urgency"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"category"}},{"kind":"Field","name":{"kind":"Name","value":"subcategory"}},{"kind":"Field","name":{"kind":"Name","value":"tags"}},{"kind":"Field","name":{"kind":"Name","value":"customFields"}},{"kind":"Field","name":{"kind":"Name","value":"requesterId"}},{"kind":"Field","name":{"kind":"Name","value":"assigneeId"}},{"kind":"Field","name":{"kind":"Name","value":"teamId"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"resolution"}},{"kind":"Field","name":{"kind":"Name","value":"externalRefs"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"resolvedAt"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Pages"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PageMeta"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pagination"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"page"}},{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"totalPages"}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}}]}}]}}]} as unknown as DocumentNode<ListTicketsQuery, ListTicketsQueryVariables>;
export const GetTicketDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"GetTicket"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ticket"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TicketWhole"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"TicketWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Ticket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"holdReason"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"impact"}},{"kind":"Field","name":{"kind":"Name","value":"urgency"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"category"}},{"kind":"Field","name":{"kind":"Name","value":"subcategory"}},{"kind":"Field","name":{"kind":"Name","value":"tags"}},{"kind":"Field","name":{"kind":"Name","value":"customFields"}},{"kind":"Field","name":{"kind":"Name","value":"requesterId"}},{"kind":"Field","name":{"kind":"Name","value":"assigneeId"}},{"kind":"Field","name":{"kind":"Name","value":"teamId"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"resolution"}},{"kind":"Field","name":{"kind":"Name","value":"externalRefs"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"resolvedAt"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<GetTicketQuery, GetTicketQueryVariables>;
export const CreateTicketDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateTicket"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateTicketInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createTicket"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TicketWhole"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"TicketWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Ticket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"holdReason"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"impact"}},{"kind":"Field","name":{"kind":"Name","value":"urgency"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"category"}},{"kind":"Field","name":{"kind":"Name","value":"subcategory"}},{"kind":"Field","name":{"kind":"Name","value":"tags"}},{"kind":"Field","name":{"kind":"Name","value":"customFields"}},{"kind":"Field","name":{"kind":"Name","value":"requesterId"}},{"kind":"Field","name":{"kind":"Name","value":"assigneeId"}},{"kind":"Field","name":{"kind":"Name","value":"teamId"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"resolution"}},{"kind":"Field","name":{"kind":"Name","value":"externalRefs"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"resolvedAt"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<CreateTicketMutation, CreateTicketMutationVariables>;
export const UpdateTicketDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateTicket"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateTicketInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateTicket"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TicketWhole"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"TicketWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Ticket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"holdReason"}},{"kind":"Field","name":{"kind":"Name","value":"priority"}},{"kind":"Field","name":{"kind":"Name","value":"impact"}},{"kind":"Field","name":{"kind":"Name","value":"urgency"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"category"}},{"kind":"Field","name":{"kind":"Name","value":"subcategory"}},{"kind":"Field","name":{"kind":"Name","value":"tags"}},{"kind":"Field","name":{"kind":"Name","value":"customFields"}},{"kind":"Field","name":{"kind":"Name","value":"requesterId"}},{"kind":"Field","name":{"kind":"Name","value":"assigneeId"}},{"kind":"Field","name":{"kind":"Name","value":"teamId"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"resolution"}},{"kind":"Field","name":{"kind":"Name","value":"externalRefs"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"resolvedAt"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<UpdateTicketMutation, UpdateTicketMutationVariables>;
