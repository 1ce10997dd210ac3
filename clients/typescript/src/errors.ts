import { readRetryAfter } from "./retry-after.ts";

type Facts = {
  status: number;
  code: string;
  message: string;
  requestId: string | null;
  retryAfterMs: number | null;
};

/** An answer of the service that is no success. Decide by `status` and `code`; `message` is for humans. */
export class ApiError extends Error {
  override readonly name: string = "ApiError";
  readonly status: number;
  /**
   * Stable: the `code` of the IDM API, `<code>/<subcode>` of Schulconnex, `error` of the token endpoint;
   * `http_<status>` if something on the way answered instead of the service.
   */
  readonly code: string;
  /** Names the call when you ask the operators of the service about it. */
  readonly requestId: string | null;
  /** When the service asks to be called again, in milliseconds; null if it did not say. */
  readonly retryAfterMs: number | null;

  constructor({ status, code, message, requestId, retryAfterMs }: Facts) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The position in the change feed is too old (410): read everything again. */
export class CursorExpiredError extends ApiError {
  override readonly name = "CursorExpiredError";
}

/** The token endpoint gave no token, for instance with the code `invalid_client` or `invalid_scope`. */
export class TokenError extends ApiError {
  override readonly name = "TokenError";
}

export type NetworkErrorCode = "timed_out" | "connection_failed";

/** The service did not answer, also not when it was asked again. `cause` is what `fetch` threw. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly code: NetworkErrorCode;
  constructor(code: NetworkErrorCode, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Reads the answer that is no success as the error to throw. */
export async function readApiError(response: Response): Promise<ApiError> {
  const { code, subcode, message, beschreibung, requestId } = await readObject(response);
  const facts = factsOf(response, {
    code: typeof subcode === "string" ? `${String(code)}/${subcode}` : code,
    message: message ?? beschreibung,
    requestId,
  });
  return response.status === 410 ? new CursorExpiredError(facts) : new ApiError(facts);
}

/** Reads the answer of the token endpoint that brought no token as the error to throw. */
export async function readTokenError(response: Response): Promise<TokenError> {
  const { error, error_description } = await readObject(response);
  return new TokenError(factsOf(response, { code: error, message: error_description ?? error }));
}

function factsOf(response: Response, told: { code: unknown; message: unknown; requestId?: unknown }): Facts {
  const { status, headers } = response;
  return {
    status,
    code: typeof told.code === "string" ? told.code : `http_${status}`,
    message: typeof told.message === "string" ? told.message : `The answer was ${status}.`,
    requestId: typeof told.requestId === "string" ? told.requestId : headers.get("x-request-id"),
    retryAfterMs: readRetryAfter(headers.get("retry-after")),
  };
}

async function readObject(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
