import type { Reach } from "../platform/guarded-request.ts";
import type { Tools } from "./command.ts";

/** Which addresses of apps the service may call, as its configuration says. Each connection judges them again, by the service's own. */
export const reachOf = ({ config }: Pick<Tools, "config">): Reach => ({
  allowPrivateAddresses: config.allowPrivateAddresses,
  allowHttp: !config.production,
});
