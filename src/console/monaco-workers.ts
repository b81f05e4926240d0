/** One file each beside the bundle; the build gives them these names. */
const WORKERS: Readonly<Record<string, string>> = {
  graphql: 'graphql.worker.js',
  json: 'json.worker.js',
};

self.MonacoEnvironment = {
  getWorker: (_id: string, label: string) =>
    new Worker(new URL(WORKERS[label] ?? 'editor.worker.js', import.meta.url)),
};
