import { tryEverything } from './matrix.js';

tryEverything('filters alone');
