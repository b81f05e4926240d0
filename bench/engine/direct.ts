// One statement by DuckDB called directly, in a process of its own as the engine's is:  node bench/engine/direct.ts <sql> <memory MB> <threads>
import { DuckDBInstance } from '@duckdb/node-api';

const [sql = '', memoryMb = '1000', threads = '2'] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', { memory_limit: `${memoryMb}MB`, threads });
const connection = await instance.connect();
const start = performance.now();
await connection.run(sql);
console.log(performance.now() - start);
connection.closeSync();
instance.closeSync();
