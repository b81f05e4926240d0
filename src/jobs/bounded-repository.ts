import type { JobParameters, JobRepository } from 'agenda';

type Arguments<Method extends keyof JobRepository> = Parameters<JobRepository[Method]>;

export interface BoundedRepository extends JobRepository {
  /** Locked by this process and not yet given back. */
  taken(): number;
  /** Takes no more; resolves when what was being fetched has arrived. */
  stopTaking(): Promise<void>;
  /** Resolves when everything taken was given back, and removed where it was finished. */
  drained(): Promise<void>;
}

/** What Agenda takes for the moment of a lock, so that its own watch never finds one that expired. */
const NEVER_EXPIRES = new Date(8_640_000_000_000_000);

/**
 * Hands Agenda a job only when there is room to start it at once. Left alone Agenda locks every due job it sees, so
 * that one worker holds what another could do, and holds it until the locks expire when it dies; its own `lockLimit`
 * refills at the next poll only, which stalls the queue. When a lock expires is for the store and `lockLifetimes` to say.
 */
export function boundRepository(
  store: JobRepository,
  limits: { total: number; perJob: ReadonlyMap<string, number> },
  lockLifetimes: ReadonlyMap<string, number>,
  onRoom: (jobName: string) => void,
): BoundedRepository {
  const held = new Map<string, { name: string; started: boolean }>();
  const fetching = new Map<string, number>();
  const fetches = new Set<Promise<unknown>>();
  const removals = new Set<Promise<unknown>>();
  /** Refused for want of room, and when they were last served: the longest waiting goes first. */
  const refused = new Set<string>();
  const lastServed = new Map<string, number>();
  /** Agenda starts a job only when it has asked for the next one; asked later, the job starts a round trip sooner. */
  const justServed = new Set<string>();
  const waiters: (() => void)[] = [];
  let stopped = false;

  const countOf = (name: string): number =>
    (fetching.get(name) ?? 0) + [...held.values()].filter((job) => job.name === name).length;

  function hasRoom(name: string): boolean {
    const perJob = limits.perJob.get(name) ?? limits.total;
    return !stopped && held.size + sum(fetching.values()) < limits.total && countOf(name) < perJob;
  }

  function release(id: string | undefined): void {
    const job = id === undefined ? undefined : held.get(id);
    if (id === undefined || !job) return;
    held.delete(id);
    if (held.size === 0) for (const resume of waiters.splice(0)) resume();
    offerRoom();
  }

  function offerRoom(): void {
    if (stopped) return;
    const waiting = [...refused].sort((a, b) => (lastServed.get(a) ?? 0) - (lastServed.get(b) ?? 0));
    refused.clear();
    for (const name of waiting) setImmediate(onRoom, name);
  }

  async function fetch(...[name, , , now, options]: Arguments<'getNextJobToRun'>) {
    fetching.set(name, (fetching.get(name) ?? 0) + 1);
    let job: JobParameters | undefined;
    try {
      // Only what is due: Agenda would also lock, ahead of time, what is due before its next poll.
      const due = new Date();
      const expired = new Date(due.getTime() - (lockLifetimes.get(name) ?? 0));
      job = await store.getNextJobToRun(name, due, expired, now, options);
      if (job?._id === undefined) return undefined;
      held.set(job._id, { name, started: false });
      lastServed.set(name, Date.now());
      justServed.add(name);
      return { ...job, lockedAt: NEVER_EXPIRES };
    } finally {
      fetching.set(name, (fetching.get(name) ?? 1) - 1);
      // Whoever was refused the place while this one looked in vain would otherwise wait for the next poll.
      if (job === undefined) offerRoom();
    }
  }

  async function getNextJobToRun(...call: Arguments<'getNextJobToRun'>): Promise<JobParameters | undefined> {
    const [name] = call;
    const again = justServed.delete(name);
    if (hasRoom(name) && !again) return noted(fetches, fetch(...call));
    refused.add(name);
    if (again) offerRoom();
    return undefined;
  }

  /** Written at the start, at each sign of life and, without a lock, at the end. */
  async function saveJobState(...[job, options]: Arguments<'saveJobState'>): Promise<void> {
    const entry = job._id === undefined ? undefined : held.get(job._id);
    const ends = job.lockedAt === undefined || job.lockedAt === null;
    try {
      await store.saveJobState(ends ? job : { ...job, lockedAt: new Date() }, options);
      if (entry) entry.started = true;
    } catch (error) {
      // A start that cannot be written is no start; the lock in the store expires.
      if (entry && !entry.started) release(job._id);
      throw error;
    } finally {
      if (ends) release(job._id);
    }
  }

  return {
    connect: () => store.connect(),
    queryJobs: (...call) => store.queryJobs(...call),
    getJobsOverview: () => store.getJobsOverview(),
    getDistinctJobNames: () => store.getDistinctJobNames(),
    getJobById: (...call) => store.getJobById(...call),
    getQueueSize: () => store.getQueueSize(),
    removeJobs: (...call) => noted(removals, store.removeJobs(...call)),
    disableJobs: (...call) => store.disableJobs(...call),
    enableJobs: (...call) => store.enableJobs(...call),
    purgeAllJobs: () => store.purgeAllJobs(),
    saveJob: (...call) => store.saveJob(...call),
    lockJob: (...call) => store.lockJob(...call),
    getNextJobToRun,
    saveJobState,
    async unlockJob(job) {
      // Agenda does not wait for this one: a rejection would be unhandled and end the process.
      await store.unlockJob(job).catch(() => undefined);
      release(job._id);
    },
    async unlockJobs(ids) {
      await store.unlockJobs(ids).finally(() => {
        for (const id of ids) release(id);
      });
    },
    taken: () => held.size,
    async stopTaking() {
      stopped = true;
      await Promise.allSettled(fetches);
    },
    async drained() {
      if (held.size > 0) await new Promise<void>((resolve) => waiters.push(resolve));
      // Agenda gives a finished job back first and removes it in the next step.
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.allSettled(removals);
    },
  };
}

/** In the set while it is under way. */
async function noted<T>(underWay: Set<Promise<unknown>>, promise: Promise<T>): Promise<T> {
  underWay.add(promise);
  try {
    return await promise;
  } finally {
    underWay.delete(promise);
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
