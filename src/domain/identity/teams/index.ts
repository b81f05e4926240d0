export { getTeam, listTeams, type TeamQuery, type TeamSortField, teamSortFields } from './read-teams.js';
export { type CreateTeam, createTeam, deleteTeam, type UpdateTeam, updateTeam } from './write-teams.js';
