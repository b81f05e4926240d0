import { UserRole } from '../../entities/identity/user.js';
import { implies, rolePermissions } from '../identity/index.js';

/** Roles that read every internal comment; to be read now, since a creator may have another role than then. */
const readers = Object.values(UserRole).filter((role) => implies(rolePermissions[role], 'comments:read:all'));

/**
 * SQL over `event` and `webhook`: an internal comment goes only to a webhook whose creator may read it, which a reader
 * of single teams' comments is not taken to be.
 */
export const matchesCreator = `(
  event.type <> 'comment.added' or event.payload->>'visibility' is distinct from 'internal'
  or exists (
    select from "user" creator
    where creator.id = webhook.created_by and creator.active
      and creator.role in (${readers.map((role) => `'${role}'`).join(', ')})
  )
)`;
