type Facts = {
    status: number;
    code: string;
    message: string;
    requestId: string | null;
    retryAfterMs: number | null;
};
/** An answer of the service that is no success. Decide by `status` and `code`; `message` is for humans. */
export declare class ApiError extends Error {
    readonly name: string;
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
    constructor({ status, code, message, requestId, retryAfterMs }: Facts);
}
/** The position in the change feed is too old (410): read everything again. */
export declare class CursorExpiredError extends ApiError {
    readonly name = "CursorExpiredError";
}
/** The token endpoint gave no token, for instance with the code `invalid_client` or `invalid_scope`. */
export declare class TokenError extends ApiError {
    readonly name = "TokenError";
}
export type NetworkErrorCode = "timed_out" | "connection_failed";
/** The service did not answer, also not when it was asked again. `cause` is what `fetch` threw. */
export declare class NetworkError extends Error {
    readonly name = "NetworkError";
    readonly code: NetworkErrorCode;
    constructor(code: NetworkErrorCode, message: string, cause: unknown);
}
/** Reads the answer that is no success as the error to throw. */
export declare function readApiError(response: Response): Promise<ApiError>;
/** Reads the answer of the token endpoint that brought no token as the error to throw. */
export declare function readTokenError(response: Response): Promise<TokenError>;
export {};
