const statusByKind = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  unsupported_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  bug: 500,
  not_offered: 501,
  unavailable: 503,
} as const;

export type ErrorKind = keyof typeof statusByKind;

export const errorKindOf = (status: number): ErrorKind | null =>
  (Object.keys(statusByKind) as ErrorKind[]).find((kind) => statusByKind[kind] === status) ?? null;

/** `code` is stable; `publicMessage` holds no names, addresses, tokens or SQL; `internal` goes to the log. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly internal: string | undefined;

  constructor(kind: ErrorKind, code: string, publicMessage: string, internal?: string, options?: { cause?: unknown }) {
    super(publicMessage, options);
    this.name = "AppError";
    this.kind = kind;
    this.code = code;
    this.internal = internal;
  }

  get status(): number {
    return statusByKind[this.kind];
  }
}

export const makeUnavailable = (internal?: string, options?: { cause?: unknown }): AppError =>
  new AppError("unavailable", "unavailable", "The service cannot answer just now. Try again later.", internal, options);
