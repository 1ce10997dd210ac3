/** An app as it was registered, and where the service is. */
export type Account = { serviceUrl: string; clientId: string; clientSecret: string; scope: string };

export type Idm = ReturnType<typeof makeIdm>;

export class IdmError extends Error {
  readonly status: number;
  constructor(status: number, path: string) {
    super(`${path} was answered with ${status}`);
    this.status = status;
  }
}

/** Reads the IDM API, with one token for as long as it is taken. */
export function makeIdm({ serviceUrl, clientId, clientSecret, scope }: Account) {
  let token = "";

  async function renewToken(): Promise<void> {
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
    const body = new URLSearchParams({ grant_type: "client_credentials", scope });
    const response = await fetch(`${serviceUrl}/oauth2/token`, { method: "POST", headers: { authorization }, body });
    if (!response.ok) throw new Error(`no token: ${await response.text()}`);
    ({ access_token: token } = (await response.json()) as { access_token: string });
  }

  const get = (path: string) =>
    fetch(`${serviceUrl}/idm/ep/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });

  /** Answers null for what does not exist, or not for this app. */
  async function read<Body>(path: string): Promise<Body | null> {
    let response = await get(path);
    if (response.status === 401) {
      await renewToken();
      response = await get(path);
    }
    if (response.ok) return (await response.json()) as Body;
    if (response.status === 404) return null;
    throw new IdmError(response.status, path);
  }

  return { read };
}
