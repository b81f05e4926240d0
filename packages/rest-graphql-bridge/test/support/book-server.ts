import { bookRoutes } from './book-routes.js';
import { type Library, library } from './library.js';
import { type Running, serve } from './server.js';

export interface BookServer {
  url: string;
  running: Running;
  /** What the library's resolvers were asked. */
  seen: Library['seen'];
}

export async function serveBooks(): Promise<BookServer> {
  const { schema, seen } = library();
  const running = await serve({
    schema,
    tables: [bookRoutes],
    context: async (_request, access, { route: info, response }) => {
      if (access === 'staff') throw new Error(`${info.operationName} is for staff`);
      response?.setHeader('x-operation', info.operationName);
      return {};
    },
  });
  return { url: running.url, running, seen };
}

/** The problems of a refusal, as `in field constraint`. */
export const problemsOf = ({ body }: { body: unknown }) =>
  (body as { problems: { in: string; field: string; constraint: string }[] }).problems.map(
    (problem) => `${problem.in} ${problem.field} ${problem.constraint}`,
  );
