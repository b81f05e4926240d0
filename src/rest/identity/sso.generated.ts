// Written by npm run generate from the .graphql file beside it.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type SortOrder =
  | 'asc'
  | 'desc';

/** ITSM document, Roles. */
export type UserRole =
  | 'end_user'
  | 'service_desk_agent'
  | 'service_desk_manager'
  | 'tenant_admin'
  | 'super_admin';

export type CreateSsoProviderInput = {
  readonly name?: string | null | undefined;
  /** true when absent. */
  readonly enabled?: boolean | null | undefined;
  /** https, http on a loopback address, or a private scheme; at most 20. */
  readonly redirectUris?: ReadonlyArray<string> | null | undefined;
  /** OIDC: issuer URL. SAML: entity id of the provider. */
  readonly issuer?: string | null | undefined;
  /** OIDC only. */
  readonly clientId?: string | null | undefined;
  /** OIDC only. Sealed; never read back, and to be sent again with another issuer. */
  readonly clientSecret?: string | null | undefined;
  /** OIDC: asked for beside openid. */
  readonly scopes?: ReadonlyArray<string> | null | undefined;
  /** SAML only: where requests are sent. */
  readonly entryPoint?: string | null | undefined;
  /** SAML only: PEM, RSA of 2048 bits or more. */
  readonly certificates?: ReadonlyArray<string> | null | undefined;
  /** Whose e-mail addresses may enter at first. */
  readonly emailDomains?: ReadonlyArray<string> | null | undefined;
  /** true when absent for directory-oidc, else false. */
  readonly provisionUsers?: boolean | null | undefined;
  /** Any but super_admin. */
  readonly defaultRole?: UserRole | null | undefined;
  /** workspace-oidc only; groups when absent. */
  readonly groupsClaim?: string | null | undefined;
  /** workspace-oidc only; at most 200. */
  readonly groupRoles?: ReadonlyArray<SsoGroupRoleInput> | null | undefined;
  /** directory-oidc, workspace-oidc, oidc or saml; one of each. */
  readonly provider: string;
};

export type SsoGroupRoleInput = {
  /** Id of the group as the provider sends it. */
  readonly group: string;
  /** Any but super_admin. */
  readonly role: UserRole;
};

/** What is absent stays as it is; null and an empty list take it away. */
export type UpdateSsoProviderInput = {
  readonly name?: string | null | undefined;
  /** true when absent. */
  readonly enabled?: boolean | null | undefined;
  /** https, http on a loopback address, or a private scheme; at most 20. */
  readonly redirectUris?: ReadonlyArray<string> | null | undefined;
  /** OIDC: issuer URL. SAML: entity id of the provider. */
  readonly issuer?: string | null | undefined;
  /** OIDC only. */
  readonly clientId?: string | null | undefined;
  /** OIDC only. Sealed; never read back, and to be sent again with another issuer. */
  readonly clientSecret?: string | null | undefined;
  /** OIDC: asked for beside openid. */
  readonly scopes?: ReadonlyArray<string> | null | undefined;
  /** SAML only: where requests are sent. */
  readonly entryPoint?: string | null | undefined;
  /** SAML only: PEM, RSA of 2048 bits or more. */
  readonly certificates?: ReadonlyArray<string> | null | undefined;
  /** Whose e-mail addresses may enter at first. */
  readonly emailDomains?: ReadonlyArray<string> | null | undefined;
  /** true when absent for directory-oidc, else false. */
  readonly provisionUsers?: boolean | null | undefined;
  /** Any but super_admin. */
  readonly defaultRole?: UserRole | null | undefined;
  /** workspace-oidc only; groups when absent. */
  readonly groupsClaim?: string | null | undefined;
  /** workspace-oidc only; at most 200. */
  readonly groupRoles?: ReadonlyArray<SsoGroupRoleInput> | null | undefined;
};

/** RFC 6749 and 7636 name them so. */
export type SsoCodeInput = {
  /** Good for a minute and for one use. */
  readonly code: string;
  /** What the code_challenge of the login was made of. */
  readonly code_verifier: string;
  /** What the client calls its device; remembered with the session. */
  readonly deviceFingerprint?: string | null | undefined;
};

export type PagesFragment = { readonly pagination: { readonly page: number | null, readonly limit: number, readonly total: number, readonly totalPages: number, readonly hasMore: boolean } };

export type SsoProviderWholeFragment = { readonly id: string, readonly provider: string, readonly name: string, readonly enabled: boolean, readonly redirectUris: ReadonlyArray<string>, readonly issuer: string, readonly clientId: string | null, readonly scopes: ReadonlyArray<string>, readonly entryPoint: string | null, readonly certificates: ReadonlyArray<string>, readonly emailDomains: ReadonlyArray<string>, readonly provisionUsers: boolean, readonly defaultRole: UserRole | null, readonly groupsClaim: string | null, readonly createdAt: string, readonly updatedAt: string, readonly groupRoles: ReadonlyArray<{ readonly group: string, readonly role: UserRole }> };

export type ListSsoProvidersQueryVariables = Exact<{
  page?: number | null | undefined;
  limit?: number | null | undefined;
  sortOrder?: SortOrder | null | undefined;
  startingAfter?: string | null | undefined;
  endingBefore?: string | null | undefined;
}>;


export type ListSsoProvidersQuery = { readonly ssoProviders: { readonly hasMore: boolean | null, readonly cursor: string | null, readonly data: ReadonlyArray<{ readonly id: string, readonly provider: string, readonly name: string, readonly enabled: boolean, readonly redirectUris: ReadonlyArray<string>, readonly issuer: string, readonly clientId: string | null, readonly scopes: ReadonlyArray<string>, readonly entryPoint: string | null, readonly certificates: ReadonlyArray<string>, readonly emailDomains: ReadonlyArray<string>, readonly provisionUsers: boolean, readonly defaultRole: UserRole | null, readonly groupsClaim: string | null, readonly createdAt: string, readonly updatedAt: string, readonly groupRoles: ReadonlyArray<{ readonly group: string, readonly role: UserRole }> }>, readonly meta: { readonly pagination: { readonly page: number | null, readonly limit: number, readonly total: number, readonly totalPages: number, readonly hasMore: boolean } } } };

export type GetSsoProviderQueryVariables = Exact<{
  id: string;
}>;


export type GetSsoProviderQuery = { readonly ssoProvider: { readonly id: string, readonly provider: string, readonly name: string, readonly enabled: boolean, readonly redirectUris: ReadonlyArray<string>, readonly issuer: string, readonly clientId: string | null, readonly scopes: ReadonlyArray<string>, readonly entryPoint: string | null, readonly certificates: ReadonlyArray<string>, readonly emailDomains: ReadonlyArray<string>, readonly provisionUsers: boolean, readonly defaultRole: UserRole | null, readonly groupsClaim: string | null, readonly createdAt: string, readonly updatedAt: string, readonly groupRoles: ReadonlyArray<{ readonly group: string, readonly role: UserRole }> } };

export type CreateSsoProviderMutationVariables = Exact<{
  input: CreateSsoProviderInput;
}>;


export type CreateSsoProviderMutation = { readonly createSsoProvider: { readonly id: string, readonly provider: string, readonly name: string, readonly enabled: boolean, readonly redirectUris: ReadonlyArray<string>, readonly issuer: string, readonly clientId: string | null, readonly scopes: ReadonlyArray<string>, readonly entryPoint: string | null, readonly certificates: ReadonlyArray<string>, readonly emailDomains: ReadonlyArray<string>, readonly provisionUsers: boolean, readonly defaultRole: UserRole | null, readonly groupsClaim: string | null, readonly createdAt: string, readonly updatedAt: string, readonly groupRoles: ReadonlyArray<{ readonly group: string, readonly role: UserRole }> } };

export type UpdateSsoProviderMutationVariables = Exact<{
  id: string;
  input: UpdateSsoProviderInput;
}>;


export type UpdateSsoProviderMutation = { readonly updateSsoProvider: { readonly id: string, readonly provider: string, readonly name: string, readonly enabled: boolean, readonly redirectUris: ReadonlyArray<string>, readonly issuer: string, readonly clientId: string | null, readonly scopes: ReadonlyArray<string>, readonly entryPoint: string | null, readonly certificates: ReadonlyArray<string>, readonly emailDomains: ReadonlyArray<string>, readonly provisionUsers: boolean, readonly defaultRole: UserRole | null, readonly groupsClaim: string | null, readonly createdAt: string, readonly updatedAt: string, readonly groupRoles: ReadonlyArray<{ readonly group: string, readonly role: UserRole }> } };

export type DeleteSsoProviderMutationVariables = Exact<{
  id: string;
}>;


export type DeleteSsoProviderMutation = { readonly deleteSsoProvider: { readonly id: string } };

export type ExchangeSsoCodeMutationVariables = Exact<{
  input: SsoCodeInput;
}>;


export type ExchangeSsoCodeMutation = { readonly exchangeSsoCode: { readonly accessToken: string, readonly refreshToken: string, readonly expiresIn: number, readonly tokenType: string, readonly user: { readonly id: string, readonly email: string, readonly role: UserRole, readonly organizationId: string, readonly ssoProvider: string } } };

export const PagesFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Pages"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PageMeta"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pagination"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"page"}},{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"totalPages"}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}}]}}]}}]} as unknown as DocumentNode<PagesFragment, unknown>;
export const SsoProviderWholeFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"SsoProviderWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SsoProvider"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"redirectUris"}},{"kind":"Field","name":{"kind":"Name","value":"issuer"}},{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"scopes"}},{"kind":"Field","name":{"kind":"Name","value":"entryPoint"}},{"kind":"Field","name":{"kind":"Name","value":"certificates"}},{"kind":"Field","name":{"kind":"Name","value":"emailDomains"}},{"kind":"Field","name":{"kind":"Name","value":"provisionUsers"}},{"kind":"Field","name":{"kind":"Name","value":"defaultRole"}},{"kind":"Field","name":{"kind":"Name","value":"groupsClaim"}},{"kind":"Field","name":{"kind":"Name","value":"groupRoles"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"group"}},{"kind":"Field","name":{"kind":"Name","value":"role"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<SsoProviderWholeFragment, unknown>;
export const ListSsoProvidersDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ListSsoProviders"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"page"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"limit"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"sortOrder"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"SortOrder"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"startingAfter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"endingBefore"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ssoProviders"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"page"},"value":{"kind":"Variable","name":{"kind":"Name","value":"page"}}},{"kind":"Argument","name":{"kind":"Name","value":"limit"},"value":{"kind":"Variable","name":{"kind":"Name","value":"limit"}}},{"kind":"Argument","name":{"kind":"Name","value":"sortOrder"},"value":{"kind":"Variable","name":{"kind":"Name","value":"sortOrder"}}},{"kind":"Argument","name":{"kind":"Name","value":"startingAfter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"startingAfter"}}},{"kind":"Argument","name":{"kind":"Name","value":"endingBefore"},"value":{"kind":"Variable","name":{"kind":"Name","value":"endingBefore"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"data"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"SsoProviderWhole"}}]}},{"kind":"Field","name":{"kind":"Name","value":"meta"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Pages"}}]}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"SsoProviderWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SsoProvider"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"redirectUris"}},{"kind":"Field","name":{"kind":"Name","value":"issuer"}},{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"scopes"}},{"kind":"Field","name":{"kind":"Name","value":"entryPoint"}},{"kind":"Field","name":{"kind":"Name","value":"certificates"}},{"kind":"Field","name":{"kind":"Name","value":"emailDomains"}},{"kind":"Field","name":{"kind":"Name","value":"provisionUsers"}},{"kind":"Field","name":{"kind":"Name","value":"defaultRole"}},{"kind":"Field","name":{"kind":"Name","value":"groupsClaim"}},{"kind":"Field","name":{"kind":"Name","value":"groupRoles"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"group"}},{"kind":"Field","name":{"kind":"Name","value":"role"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Pages"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PageMeta"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pagination"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"page"}},{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"totalPages"}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}}]}}]}}]} as unknown as DocumentNode<ListSsoProvidersQuery, ListSsoProvidersQueryVariables>;
export const GetSsoProviderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"GetSsoProvider"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ssoProvider"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"SsoProviderWhole"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"SsoProviderWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SsoProvider"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"redirectUris"}},{"kind":"Field","name":{"kind":"Name","value":"issuer"}},{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"scopes"}},{"kind":"Field","name":{"kind":"Name","value":"entryPoint"}},{"kind":"Field","name":{"kind":"Name","value":"certificates"}},{"kind":"Field","name":{"kind":"Name","value":"emailDomains"}},{"kind":"Field","name":{"kind":"Name","value":"provisionUsers"}},{"kind":"Field","name":{"kind":"Name","value":"defaultRole"}},{"kind":"Field","name":{"kind":"Name","value":"groupsClaim"}},{"kind":"Field","name":{"kind":"Name","value":"groupRoles"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"group"}},{"kind":"Field","name":{"kind":"Name","value":"role"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<GetSsoProviderQuery, GetSsoProviderQueryVariables>;
export const CreateSsoProviderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateSsoProvider"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateSsoProviderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createSsoProvider"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"SsoProviderWhole"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"SsoProviderWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SsoProvider"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"redirectUris"}},{"kind":"Field","name":{"kind":"Name","value":"issuer"}},{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"scopes"}},{"kind":"Field","name":{"kind":"Name","value":"entryPoint"}},{"kind":"Field","name":{"kind":"Name","value":"certificates"}},{"kind":"Field","name":{"kind":"Name","value":"emailDomains"}},{"kind":"Field","name":{"kind":"Name","value":"provisionUsers"}},{"kind":"Field","name":{"kind":"Name","value":"defaultRole"}},{"kind":"Field","name":{"kind":"Name","value":"groupsClaim"}},{"kind":"Field","name":{"kind":"Name","value":"groupRoles"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"group"}},{"kind":"Field","name":{"kind":"Name","value":"role"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<CreateSsoProviderMutation, CreateSsoProviderMutationVariables>;
export const UpdateSsoProviderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateSsoProvider"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateSsoProviderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateSsoProvider"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"SsoProviderWhole"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"SsoProviderWhole"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SsoProvider"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"redirectUris"}},{"kind":"Field","name":{"kind":"Name","value":"issuer"}},{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"scopes"}},{"kind":"Field","name":{"kind":"Name","value":"entryPoint"}},{"kind":"Field","name":{"kind":"Name","value":"certificates"}},{"kind":"Field","name":{"kind":"Name","value":"emailDomains"}},{"kind":"Field","name":{"kind":"Name","value":"provisionUsers"}},{"kind":"Field","name":{"kind":"Name","value":"defaultRole"}},{"kind":"Field","name":{"kind":"Name","value":"groupsClaim"}},{"kind":"Field","name":{"kind":"Name","value":"groupRoles"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"group"}},{"kind":"Field","name":{"kind":"Name","value":"role"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<UpdateSsoProviderMutation, UpdateSsoProviderMutationVariables>;
export const DeleteSsoProviderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteSsoProvider"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteSsoProvider"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<DeleteSsoProviderMutation, DeleteSsoProviderMutationVariables>;
export const ExchangeSsoCodeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ExchangeSsoCode"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SsoCodeInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"exchangeSsoCode"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"expiresIn"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"organizationId"}},{"kind":"Field","name":{"kind":"Name","value":"ssoProvider"}}]}}]}}]}}]} as unknown as DocumentNode<ExchangeSsoCodeMutation, ExchangeSsoCodeMutationVariables>;
