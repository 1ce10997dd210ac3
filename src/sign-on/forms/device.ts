import { type PageRequest, readCookie, setCookie } from "./page-request.ts";

const name = "_device";
const yearSeconds = 365 * 24 * 3600;

/** Reads the cookie of a browser that a person signed in with before. */
export const readDevice = (request: PageRequest): string | null => readCookie(request, name, { signed: false });

export const rememberDevice = (request: PageRequest, device: string): void =>
  setCookie(request, name, device, { signed: false, seconds: yearSeconds });
