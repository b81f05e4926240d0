export interface Coalesced {
  /** Does the work soon; once more when it is under way already. */
  run(): void;
  /** Resolves when nothing is under way; nothing begins afterwards. */
  stop(): Promise<void>;
}

/**
 * Work that is done one step at a time, again while a step says that there is more, and again for every call that came
 * meanwhile. A failure ends the round: the next call tries again.
 */
export function coalesced(step: () => Promise<boolean>, onError: (error: unknown) => void): Coalesced {
  let wanted = false;
  let stopped = false;
  let running: Promise<void> | undefined;

  async function loop(): Promise<void> {
    try {
      while (wanted && !stopped) {
        wanted = false;
        if (await step()) wanted = true;
      }
    } catch (error) {
      wanted = false;
      onError(error);
    }
  }

  function run(): void {
    wanted = true;
    if (stopped) return;
    running ??= loop().finally(() => {
      running = undefined;
      if (wanted) run();
    });
  }

  return {
    run,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
