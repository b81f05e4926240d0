interface CreatingRow {
  readonly method: string;
  readonly status?: unknown;
  readonly access?: unknown;
}

/** A POST that makes something for a known caller: repeated with its Idempotency-Key it makes nothing more. */
export function isRepeatable({ method, status, access }: CreatingRow): boolean {
  return method === 'POST' && status === 201 && access !== 'public';
}
