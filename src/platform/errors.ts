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

/** A property of the body, as a JSON pointer, and the keyword of its schema or the code of the error that it breaks. */
export type PropertyFault = { pointer: string; rule: string; message: string };

/** `property`: path of the property that the error is about; `faults`: several such errors. */
type Options = { cause?: unknown; property?: string | undefined; faults?: readonly PropertyFault[] };

/** `code` is stable; `publicMessage` holds no names, addresses, tokens or SQL; `internal` goes to the log. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly internal: string | undefined;
  readonly faults: readonly PropertyFault[];

  constructor(kind: ErrorKind, code: string, publicMessage: string, internal?: string, options: Options = {}) {
    super(publicMessage, "cause" in options ? { cause: options.cause } : {});
    this.name = "AppError";
    this.kind = kind;
    this.code = code;
    this.internal = internal;
    const { property, faults = [] } = options;
    this.faults = property === undefined ? faults : [{ pointer: `/${property}`, rule: code, message: publicMessage }];
  }

  get status(): number {
    return statusByKind[this.kind];
  }
}

/** `property` is its path, such as `description/de`, with which the message begins. */
export const refuseProperty = (code: string, property: string, message: string): AppError =>
  new AppError("invalid", code, `${property} ${message}.`, undefined, { property });

export const makeUnavailable = (internal?: string, options?: { cause?: unknown }): AppError =>
  new AppError("unavailable", "unavailable", "The service cannot answer just now. Try again later.", internal, options);
