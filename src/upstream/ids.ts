declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ConnectionId = Branded<"ConnectionId">;
export type RefusalId = Branded<"RefusalId">;
export type SetUpLinkId = Branded<"SetUpLinkId">;
export type UpstreamSessionId = Branded<"UpstreamSessionId">;
