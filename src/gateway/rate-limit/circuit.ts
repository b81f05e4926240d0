export interface CircuitOptions {
  /** Milliseconds after which an answer is no longer waited for. */
  timeoutMs: number;
  /** Milliseconds between the questions whether it is back. */
  probeMs: number;
  /** Asked while the circuit is open. */
  probe(): Promise<unknown>;
}

/** Keeps those who ask from waiting for something that does not answer. */
export interface Circuit {
  /** @throws CircuitOpen at once while it is open, after `timeoutMs` when this very call opens it; what `work` throws */
  run<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

class CircuitOpen extends Error {
  override readonly name = 'CircuitOpen';
}

/**
 * One call without an answer in time opens it; a probe that is answered in time closes it. Nobody's request is the
 * probe, so after the first ones nobody waits.
 */
export function createCircuit({ timeoutMs, probeMs, probe }: CircuitOptions): Circuit {
  let probing: NodeJS.Timeout | undefined;
  let closed = false;

  function open(): void {
    if (probing === undefined && !closed) scheduleProbe();
  }

  function scheduleProbe(): void {
    probing = setTimeout(async () => {
      const answered = await inTime(timeoutMs, probe).then(
        () => true,
        () => false,
      );
      if (closed) return;
      if (answered) probing = undefined;
      else scheduleProbe();
    }, probeMs);
    probing.unref();
  }

  return {
    async run(work) {
      if (probing !== undefined) throw new CircuitOpen('not asked: it did not answer a moment ago');
      try {
        return await inTime(timeoutMs, work);
      } catch (error) {
        if (error instanceof CircuitOpen) open();
        throw error;
      }
    },
    close() {
      closed = true;
      clearTimeout(probing);
    },
  };
}

function inTime<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // After a busy moment of this process the timer comes before an answer that is long there: let that be read first.
      setImmediate(() => reject(new CircuitOpen(`no answer in ${timeoutMs} ms`)));
    }, timeoutMs);
    work()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
