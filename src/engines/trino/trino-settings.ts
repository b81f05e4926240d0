/** The Trino that BATCH may use instead of DuckDB. */
export interface TrinoSettings {
  /** Its origin, without credentials. */
  url: string;
  user: string;
  /** Sent with HTTP basic authentication, over https only. */
  password?: string;
  /** `<workspace id>/<connection>`, or with a star for the id for every workspace, to the catalog. */
  catalogs: ReadonlyMap<string, string>;
}

/**
 * The catalog that stands for a connection. Only what the operator mapped: Trino reads with its own rights, so a
 * connection's name alone must not open a catalog to the workspace that thought of the name.
 */
export function catalogOf(
  { catalogs }: TrinoSettings,
  workspaceId: string | undefined,
  connection: string,
): string | undefined {
  return catalogs.get(`${workspaceId ?? ''}/${connection}`) ?? catalogs.get(`*/${connection}`);
}

/** Credentials in the URL come before TRINO_USER. */
export function trinoSettings(
  text: string,
  { TRINO_USER, TRINO_CATALOGS }: { TRINO_USER: string; TRINO_CATALOGS: ReadonlyMap<string, string> },
): TrinoSettings {
  const { origin, username, password } = new URL(text);
  return {
    url: origin,
    user: username === '' ? TRINO_USER : decodeURIComponent(username),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    catalogs: TRINO_CATALOGS,
  };
}

const ENTRY = /^(\*|[0-9a-f-]{36})\/([^=/]+)=([A-Za-z_]\w*)$/;

/** Of `TRINO_CATALOGS`: a workspace id or a star, then /connection=catalog. @throws Error naming the entry that is neither */
export function parseCatalogs(entries: readonly string[]): Map<string, string> {
  return new Map(
    entries.map((entry) => {
      const [, workspace, connection, catalog] = ENTRY.exec(entry) ?? [];
      if (workspace === undefined || connection === undefined || catalog === undefined) {
        throw new Error(`"${entry}" must be <workspace id or *>/<connection>=<catalog>`);
      }
      return [`${workspace}/${connection}`, catalog];
    }),
  );
}
