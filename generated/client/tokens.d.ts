import { type Send } from "./retry.ts";
export type Credentials = {
    /** The address of the service, as in its discovery document, such as `https://login.example.org`. */
    issuer: string;
    clientId: string;
    clientSecret: string;
    /** The scopes of every token, such as `urn:schultor:idm:v1:people:read`. */
    scopes: readonly string[];
};
export type Tokens = {
    get(signal: AbortSignal): Promise<string>;
    /** The service refused this token; the next caller gets another one. */
    forget(token: string): void;
};
/** Tokens of the app itself: one for all calls, fetched once for all who wait for it, renewed before it ends. */
export declare function makeTokens({ issuer, clientId, clientSecret, scopes }: Credentials, send: Send): Tokens;
