import { spawn } from 'node:child_process';

// The compiler rewrites what changed and the server starts again; both end together.
const start = (command, args) => spawn(command, args, { stdio: 'inherit' });

const build = start('npm', ['run', '--silent', 'build']);
build.on('exit', (code) => {
  if (code !== 0) process.exit(code ?? 1);
  const children = [
    start('tsc', ['-b', '--watch', '--preserveWatchOutput', 'packages/rest-graphql-bridge', 'src']),
    start('node', ['--watch', '--watch-preserve-output', 'dist/server.js']),
  ];
  const stop = () => {
    for (const child of children) child.kill('SIGTERM');
  };
  for (const child of children) child.on('exit', stop);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
});
