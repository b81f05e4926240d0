/**
 * Ctrl-C sends SIGINT to every process of the group, and a service manager may send SIGTERM to every process of the service.
 * Who drains is the server: the processes it started end when it tells them to, or when it is gone.
 */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
