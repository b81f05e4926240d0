import { BaseNotificationChannel, type JobNotification, toJobId } from 'agenda';
import type { WakeChannel } from '../context.js';

/**
 * Agenda's notifications over the wake channel: coalesced, on connections that come back, the same for every store.
 * A wake names the kind of job only; the worker then asks the store.
 */
export class WakeNotifications extends BaseNotificationChannel {
  readonly #wake: WakeChannel;
  readonly #names: readonly string[];
  #leave: (() => void)[] = [];

  constructor(wake: WakeChannel, names: readonly string[]) {
    super({ reconnect: { enabled: false } });
    this.#wake = wake;
    this.#names = names;
  }

  override async connect(): Promise<void> {
    if (this.state === 'connected') return;
    this.#leave = this.#names.map((name) => this.#wake.on(topicOf(name), () => this.due(name)));
    this.setState('connected');
  }

  override async disconnect(): Promise<void> {
    for (const leave of this.#leave.splice(0)) leave();
    this.handlers.clear();
    this.stateHandlers.clear();
    this.setState('disconnected');
  }

  override async publish({ jobName }: JobNotification): Promise<void> {
    this.announce(jobName);
  }

  /** Has the workers of all nodes look for jobs of this name. */
  announce(jobName: string): void {
    this.#wake.wake(topicOf(jobName));
  }

  /** Has the worker of this process look for jobs of this name. */
  due(jobName: string): void {
    const notification = { jobId: toJobId(''), jobName, nextRunAt: null, priority: 0, timestamp: new Date() };
    this.notifyHandlers(notification).catch((error) => this.emit('error', error));
  }
}

const topicOf = (jobName: string): string => `jobs.${jobName}`;
