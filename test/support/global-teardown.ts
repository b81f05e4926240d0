export default async function globalTeardown(): Promise<void> {
  const { stopTestServer } = globalThis as typeof globalThis & { stopTestServer?: () => Promise<void> };
  await stopTestServer?.();
}
