// An OpenID provider: issues access tokens for one resource to one client, and prints its address.
import { createRequire } from "module";
import { generateKeyPairSync } from "crypto";
import { createServer } from "http";
import { pathToFileURL } from "url";

const [folder, port, algorithm, resource] = process.argv.slice(2);
const entry = createRequire(folder + "/").resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(entry));

const pair = algorithm.startsWith("ES")
    ? generateKeyPairSync("ec", { namedCurve: "P-256" })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = { ...pair.privateKey.export({ format: "jwk" }), use: "sig", alg: algorithm };

const server = createServer();
await new Promise(done => server.listen(Number(port), "127.0.0.1", done));
const issuer = `http://127.0.0.1:${server.address().port}`;
const client = client_id => ({
    client_id, client_secret: "a-secret-of-a-client", grant_types: ["client_credentials"],
    redirect_uris: [], response_types: [], id_token_signed_response_alg: algorithm,
});
const provider = new Provider(issuer, {
    clients: [client("reader"), client("stranger")],
    jwks: { keys: [key] },
    extraTokenClaims: (_, token) => (
        token.clientId === "reader" ? { roles: ["readers"] } : { roles: ["strangers"] }
    ),
    features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
            enabled: true,
            getResourceServerInfo: (_, indicator) => ({
                scope: "read",
                audience: indicator,
                accessTokenTTL: 600,
                accessTokenFormat: "jwt",
                jwt: { sign: { alg: algorithm } },
            }),
        },
    },
});
server.on("request", provider.callback());
console.log(JSON.stringify({ issuer }));
process.stdin.on("end", () => process.exit(0)).resume();
