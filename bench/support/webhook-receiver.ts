import { startReceiver } from '../../test/webhooks/receiver.js';

/**
 * A receiver in a process of its own: takes a key pair, answers with its address, then with how many POSTs it has had
 * whenever that is asked, and with the moment of each when it is told to (process.hrtime, one clock for all processes).
 */
process.once('message', async (pair: { cert: string; key: string }) => {
  const receiver = await startReceiver(pair, false);
  let count = 0;
  let awaited = Number.POSITIVE_INFINITY;
  let tells = false;
  receiver.onArrival(() => {
    count += 1;
    if (tells) process.send?.({ arrivedAt: Number(process.hrtime.bigint()) });
    if (count === awaited) process.send?.({ done: Number(process.hrtime.bigint()) });
  });
  process.on('message', ({ await: next, tell }: { await: number; tell: boolean }) => {
    count = 0;
    awaited = next;
    tells = tell;
    process.send?.('ready');
  });
  process.send?.({ url: receiver.url, host: receiver.host });
});
process.on('disconnect', () => process.exit(0));
