import { type PageRequest, readCookie, setCookie } from "./page-request.ts";

const name = "_device";
const yearSeconds = 365 * 24 * 3600;

/** Reads the cookie of a browser that a person signed in with before. */
export const readDevice = (request: PageRequest): string | null => readCookie(request, name, { signed: false });

/** On a shared device no cookie outlives the browser. */
export const rememberDevice = (request: PageRequest, device: string, isShared: boolean): void =>
  setCookie(request, name, device, { signed: false, seconds: isShared ? undefined : yearSeconds });
