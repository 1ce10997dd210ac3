// The baseline of the sign-on measurements: oidc-provider with its in-memory adapter.
import { serveOidcProvider } from "./oidc-provider.ts";

await serveOidcProvider();
