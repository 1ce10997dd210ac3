import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.http.HttpRequest;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.Collection;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Does with the generated Java clients what it is told on standard input, and prints JSON.
 *
 * <p>{@code Driver <clients> run} makes the calls of a scenario; {@code types} tells the types of the models.
 */
final class Driver {
  private static final ObjectMapper json = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    JsonNode told = json.readTree(System.in);
    JsonNode done = args[1].equals("run") ? run(told) : types(told, new File(args[0]));
    System.out.write(json.writeValueAsBytes(done));
    System.out.flush();
  }

  private static String space(String bundle) {
    return "schultor." + bundle.replaceAll("[^a-z0-9]+", "_");
  }

  private static String camel(String name) {
    StringBuilder made = new StringBuilder();
    for (String word : name.split("[-_]"))
      made.append(made.length() == 0 ? word : word.substring(0, 1).toUpperCase() + word.substring(1));
    return made.toString();
  }

  private static JsonNode run(JsonNode told) throws Exception {
    ArrayNode done = json.createArrayNode();
    ObjectNode access = (ObjectNode) told.get("access");
    for (JsonNode step : told.get("steps")) done.add(call(step, told.get("url").asText(), access));
    return done;
  }

  private static ObjectNode call(JsonNode step, String url, ObjectNode access) throws Exception {
    String space = space(step.get("bundle").asText());
    Class<?> clientClass = Class.forName(space + ".ApiClient");
    Object client = clientClass.getConstructor().newInstance();
    clientClass.getMethod("updateBaseUri", String.class).invoke(client, url);
    String authorization = authorization(access.get(step.get("as").asText()));
    Consumer<HttpRequest.Builder> authorize = (request) -> request.header("Authorization", authorization);
    clientClass.getMethod("setRequestInterceptor", Consumer.class).invoke(client, authorize);
    ObjectMapper mapper = (ObjectMapper) clientClass.getMethod("getObjectMapper").invoke(client);

    Class<?> apiClass = Class.forName(space + ".api." + step.get("api").asText());
    Object api = apiClass.getConstructor(clientClass).newInstance(client);
    try {
      Method operation = method(apiClass, step.get("operation").asText());
      Object value = operation.invoke(api, arguments(operation, step.get("parameters"), mapper));
      if (step.has("keep")) {
        String token = (String) value.getClass().getMethod("getAccessToken").invoke(value);
        access.putObject(step.get("keep").asText()).put("accessToken", token);
      }
      ObjectNode done = json.createObjectNode();
      done.set("value", json.readTree(mapper.writeValueAsString(value)));
      return done;
    } catch (InvocationTargetException thrown) {
      return refusal(thrown.getCause(), Class.forName(space + ".ApiException"));
    }
  }

  private static String authorization(JsonNode by) {
    if (by.has("accessToken")) return "Bearer " + by.get("accessToken").asText();
    String pair = by.get("username").asText() + ":" + by.get("password").asText();
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes());
  }

  private static Method method(Class<?> api, String name) {
    for (Method method : api.getMethods()) if (method.getName().equals(name)) return method;
    throw new IllegalStateException(api + " has no " + name);
  }

  /** By the names of the parameters, which the classes hold since they are compiled with them. */
  private static Object[] arguments(Method operation, JsonNode given, ObjectMapper mapper) {
    var parameters = operation.getParameters();
    Object[] arguments = new Object[parameters.length];
    given.fieldNames().forEachRemaining((name) -> {
      for (int at = 0; at < parameters.length; at++) {
        Type type = parameters[at].getParameterizedType();
        if (parameters[at].getName().equals(camel(name)))
          arguments[at] = mapper.convertValue(given.get(name), mapper.constructType(type));
      }
    });
    return arguments;
  }

  private static ObjectNode refusal(Throwable thrown, Class<?> exception) throws Exception {
    if (!exception.isInstance(thrown)) throw new IllegalStateException(thrown);
    ObjectNode done = json.createObjectNode();
    ObjectNode error = done.putObject("error").put("type", thrown.getClass().getSimpleName());
    error.put("status", (int) exception.getMethod("getCode").invoke(thrown));
    error.set("body", json.readTree((String) exception.getMethod("getResponseBody").invoke(thrown)));
    return done;
  }

  private static JsonNode types(JsonNode told, File clients) throws Exception {
    ObjectNode all = json.createObjectNode();
    for (JsonNode bundle : told.get("bundles")) {
      String models = space(bundle.asText()) + ".model";
      ObjectNode described = all.putObject(bundle.asText());
      File folder = new File(clients, bundle.asText() + "/src/main/java/" + models.replace('.', '/'));
      for (String file : folder.list()) {
        Class<?> model = Class.forName(models + "." + file.replace(".java", ""));
        ObjectNode fields = described.putObject(model.getSimpleName());
        for (Method getter : model.getMethods()) {
          var property = getter.getAnnotation(com.fasterxml.jackson.annotation.JsonProperty.class);
          if (property != null && getter.getName().startsWith("get")) fields.set(property.value(), look(getter));
        }
      }
    }
    return all;
  }

  private static ObjectNode look(Method getter) {
    Type type = getter.getGenericReturnType();
    boolean list = Collection.class.isAssignableFrom(getter.getReturnType());
    Type entry = list ? ((ParameterizedType) type).getActualTypeArguments()[0] : type;
    Class<?> one = entry instanceof Class<?> known ? known : Object.class;
    ObjectNode look = json.createObjectNode().put("list", list);
    look.put("nullable", getter.isAnnotationPresent(javax.annotation.Nullable.class));
    ArrayNode values = look.putArray("values");
    if (one.isEnum()) for (Object value : one.getEnumConstants()) values.add(value.toString());
    return look.put("kind", kind(one));
  }

  private static String kind(Class<?> type) {
    if (type.isEnum()) return "enum";
    if (type == UUID.class) return "uuid";
    if (type == OffsetDateTime.class) return "date-time";
    if (type == LocalDate.class) return "date";
    return type == String.class ? "text" : "other";
  }
}
