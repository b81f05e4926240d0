import { readdir, readFile } from 'node:fs/promises';

/** Ids of the processes of a module, by default the engine's, that a process has had started. Linux only. */
export async function engineProcesses(
  ancestor: number = process.pid,
  module = 'engines/batch/child.js',
): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const read = (pid: number, name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const parents = new Map(
    await Promise.all(
      pids.map(async (pid) => [pid, Number(/\) \S (\d+)/.exec(await read(pid, 'stat'))?.[1])] as const),
    ),
  );
  const descends = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === ancestor || (parent !== undefined && descends(parent));
  };
  const found = await Promise.all(
    pids.filter(descends).map(async (pid) => {
      const command = await read(pid, 'cmdline');
      return command.includes(module) ? [pid] : [];
    }),
  );
  return found.flat();
}
