export { createUser } from './create-user.js';
export { getMe, getUser } from './get-user.js';
export { listUsers, type UserQuery, type UserSortField, userSortFields } from './list-users.js';
export { deactivateUser, updateUser } from './update-user.js';
