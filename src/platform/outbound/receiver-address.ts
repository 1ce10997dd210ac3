import type { AppError } from "../errors.ts";
import { checkReachable, RefusedTarget, type OutboundPolicy } from "./guarded-request.ts";

const mostCharacters = 2000;

export async function checkReceiver(
  text: string,
  policy: OutboundPolicy,
  refuse: (why: string) => AppError,
): Promise<URL> {
  if (!URL.canParse(text)) throw refuse("it is not an address");
  const url = new URL(text);
  if (text.includes("#")) throw refuse("it has a fragment");
  if (url.href.length > mostCharacters) throw refuse("it is too long");
  await checkReachable(url, policy).catch((error: unknown) => {
    throw error instanceof RefusedTarget ? refuse(error.message) : error;
  });
  return url;
}
