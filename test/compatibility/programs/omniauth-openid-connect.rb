require "json"
require "omniauth_openid_connect"
require "rack"

app = Rack::Builder.new
app.use Rack::Session::Pool

# configuration
issuer = URI(ENV["ISSUER"])
# Only for a service on this machine.
SWD.url_builder = URI::HTTP if issuer.scheme == "http"
app.use OmniAuth::Builder do
  provider :openid_connect,
           name: "schultor",
           issuer: issuer.to_s,
           discovery: true,
           scope: %w[openid profile offline_access],
           client_options: {
             identifier: ENV["CLIENT_ID"],
             secret: ENV["CLIENT_SECRET"],
             redirect_uri: "#{ENV["BASE_URL"]}/auth/schultor/callback",
           }
end
# end of configuration

def sign_in(session)
  token = Rack::Protection::AuthenticityToken.token(session)
  %(<form method="post" action="/auth/schultor"><input type="hidden" name="authenticity_token" value="#{token}"></form>)
end

# OmniAuth itself refreshes nothing, the library below it does.
def refresh(refresh_token)
  endpoint = OpenIDConnect::Discovery::Provider::Config.discover!(ENV["ISSUER"]).token_endpoint
  client = OpenIDConnect::Client.new(identifier: ENV["CLIENT_ID"], secret: ENV["CLIENT_SECRET"], token_endpoint: endpoint)
  client.refresh_token = refresh_token
  client.access_token!
end

app.run(lambda do |env|
  request = Rack::Request.new(env)
  user = request.session["user"]
  case request.path
  when "/auth/schultor/callback"
    auth = env["omniauth.auth"]
    tokens = auth.credentials
    request.session["user"] = { sub: auth.uid, accessToken: tokens.token, refreshToken: tokens.refresh_token, info: auth.extra.raw_info }
    [303, { "Location" => "/" }, []]
  when "/me"
    user ? [200, {}, [user.slice(:sub, :accessToken).to_json]] : [401, {}, []]
  when "/userinfo"
    [200, {}, [user[:info].to_json]]
  when "/refresh"
    [200, {}, [{ accessToken: refresh(user[:refreshToken]).access_token }.to_json]]
  else
    [200, { "Content-Type" => "text/html" }, [sign_in(request.session)]]
  end
end)
Rack::Handler::WEBrick.run(app.to_app, Host: "localhost", Port: ENV["PORT"])
