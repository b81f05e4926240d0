// Written by npm run generate from the .graphql file beside it.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** ITSM document, MFA challenge. */
export type MfaMethod =
  | 'totp'
  | 'webauthn'
  | 'backup_codes';

export type VerifyMfaInput = {
  readonly mfaToken: string;
  readonly method: MfaMethod;
  /** For totp and backup_codes. */
  readonly code?: string | null | undefined;
  /** AuthenticationResponseJSON, for webauthn. */
  readonly assertion?: Record<string, unknown> | null | undefined;
};

export type SetUpMfaInput = {
  /** totp or webauthn: backup codes come with either. */
  readonly method: MfaMethod;
};

export type ConfirmMfaInput = {
  /** By default what is sent tells. */
  readonly method?: MfaMethod | null | undefined;
  /** Of the authenticator app. */
  readonly code?: string | null | undefined;
  /** RegistrationResponseJSON, for webauthn. */
  readonly attestation?: Record<string, unknown> | null | undefined;
};

export type VerifyMfaMutationVariables = Exact<{
  input: VerifyMfaInput;
}>;


export type VerifyMfaMutation = { readonly verifyMfa: { readonly accessToken: string, readonly refreshToken: string, readonly expiresIn: number, readonly tokenType: string } };

export type SetUpMfaMutationVariables = Exact<{
  input: SetUpMfaInput;
}>;


export type SetUpMfaMutation = { readonly setUpMfa: { readonly secret: string | null, readonly otpauthUri: string | null, readonly creationOptions: Record<string, unknown> | null } };

export type ConfirmMfaMutationVariables = Exact<{
  input: ConfirmMfaInput;
}>;


export type ConfirmMfaMutation = { readonly confirmMfa: { readonly backupCodes: ReadonlyArray<string> } };

export type RegenerateBackupCodesMutationVariables = Exact<{ [key: string]: never; }>;


export type RegenerateBackupCodesMutation = { readonly regenerateBackupCodes: { readonly backupCodes: ReadonlyArray<string> } };

export type RemoveMfaMutationVariables = Exact<{
  method: MfaMethod;
}>;


export type RemoveMfaMutation = { readonly removeMfa: boolean };


export const VerifyMfaDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"VerifyMfa"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"VerifyMfaInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verifyMfa"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"expiresIn"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}}]}}]}}]} as unknown as DocumentNode<VerifyMfaMutation, VerifyMfaMutationVariables>;
export const SetUpMfaDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetUpMfa"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SetUpMfaInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setUpMfa"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"secret"}},{"kind":"Field","name":{"kind":"Name","value":"otpauthUri"}},{"kind":"Field","name":{"kind":"Name","value":"creationOptions"}}]}}]}}]} as unknown as DocumentNode<SetUpMfaMutation, SetUpMfaMutationVariables>;
export const ConfirmMfaDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ConfirmMfa"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ConfirmMfaInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"confirmMfa"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"backupCodes"}}]}}]}}]} as unknown as DocumentNode<ConfirmMfaMutation, ConfirmMfaMutationVariables>;
export const RegenerateBackupCodesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RegenerateBackupCodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"regenerateBackupCodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"backupCodes"}}]}}]}}]} as unknown as DocumentNode<RegenerateBackupCodesMutation, RegenerateBackupCodesMutationVariables>;
export const RemoveMfaDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RemoveMfa"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"method"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"MfaMethod"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"removeMfa"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"method"},"value":{"kind":"Variable","name":{"kind":"Name","value":"method"}}}]}]}}]} as unknown as DocumentNode<RemoveMfaMutation, RemoveMfaMutationVariables>;
