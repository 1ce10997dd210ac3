/** What the environment says about remote services, for the command line. */
export type RemoteSettings = {
  /** Where the user's own configuration is kept; undefined where neither XDG_CONFIG_HOME nor HOME is set. */
  configFolder: string | undefined;
  /** The remote service that commands act on. */
  remote: string | undefined;
  /** The secret for `remote login`. */
  clientSecret: string | undefined;
};

/** Source: XDG Base Directory Specification, for the folder. */
export function readRemoteSettings(env: NodeJS.ProcessEnv = process.env): RemoteSettings {
  const given = (name: string) => env[name] || undefined;
  const [own, home] = [given("XDG_CONFIG_HOME"), given("HOME")];
  return {
    configFolder: own ?? (home && `${home}/.config`),
    remote: given("SCHULTOR_REMOTE"),
    clientSecret: given("SCHULTOR_CLIENT_SECRET"),
  };
}
