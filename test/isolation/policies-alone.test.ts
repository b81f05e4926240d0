import { tryEverything } from './matrix.js';

tryEverything('policies alone');
