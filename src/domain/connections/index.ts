export { connectionTarget } from './connection-target.js';
export { fileOwners, fileOwnersDirectory } from './file-owners.js';
