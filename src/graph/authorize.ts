import type { GraphQLFieldResolver } from 'graphql';
import { asSystem, itsmCaller, platformCaller, type RequestContext } from '../context.js';
import {
  forbidden,
  highestPlatformRole,
  implies,
  type Permission,
  type PlatformAction,
  platformAllows,
  platformMinimumRole,
} from '../domain/identity/index.js';
import { AppError } from '../errors.js';
import type { Requirement } from '../resolvers/permission.js';

type Check = (context: RequestContext) => void;
type Resolver = GraphQLFieldResolver<unknown, RequestContext>;

/**
 * The check is chosen once per field when the schema is built: a type-graphql guard would put an async chain in front
 * of every root field, this is one synchronous call. Undefined means that nobody is asked for anything.
 */
export function checkOf(requirement: Requirement): Check | undefined {
  if ('itsm' in requirement) return itsmCheck(requirement.itsm);
  if ('platform' in requirement) return platformCheck(requirement.platform);
  return undefined;
}

export function guarded(resolve: Resolver, check: Check): Resolver {
  return (source, args, context, info) => {
    check(context);
    return resolve(source, args, context, info);
  };
}

/** Nobody is known yet, so that there is no tenant to keep to: finding out who somebody is looks at all of them. */
export function inSystem(resolve: Resolver): Resolver {
  return (source, args, context, info) => resolve(source, args, asSystem(context), info);
}

function itsmCheck(needed: Permission): Check {
  return (context) => {
    const caller = itsmCaller(context);
    if (implies(caller.permissions, needed)) return;
    throw forbidden(caller, needed);
  };
}

function platformCheck(action: PlatformAction): Check {
  const requiredRole = platformMinimumRole[action];
  return (context) => {
    const { roles } = platformCaller(context);
    if (platformAllows(roles, action)) return;
    throw new AppError('AUTHORIZATION_ERROR', `This needs the role ${requiredRole} or a higher one`, {
      details: { requiredPermission: action, requiredRole, currentRole: highestPlatformRole(roles) ?? null },
    });
  };
}
