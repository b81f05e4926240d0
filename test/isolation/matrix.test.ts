import { tryEverything } from './matrix.js';

tryEverything('both');
