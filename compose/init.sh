#!/bin/sh
# Makes the passwords and keys of this cluster at its first start, and the files that hold them.
# Later starts keep them. Each service mounts one folder of secrets, its own.
set -eu
umask 077

# The secret of this name, 256 bits in hexadecimal; made if there is none yet.
secret() {
    if [ ! -s "/secrets/owner/$1" ]; then
        head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"/secrets/owner/$1.new"
        mv "/secrets/owner/$1.new" "/secrets/owner/$1"
    fi
    cat "/secrets/owner/$1"
}

# Writes standard input to a file at once, with this mode.
write() {
    cat >"$1.new"
    chmod "$2" "$1.new"
    mv -f "$1.new" "$1"
}

nats_password=$(secret nats-password)
route_password=$(secret route-password)
owner_password=$(secret owner-password)
service_password=$(secret service-password)
api_key=$(secret api-key)
metrics_key=$(secret metrics-key)

servers=
for host in $NATS_HOSTS; do
    servers="$servers${servers:+,}nats://staunch:$nats_password@$host:4222"
done

# PostgreSQL: the owner changes the schema, the service reads and writes rows.
printf '%s\n' "$owner_password" | write /secrets/postgres/owner-password 0444
printf '%s\n' "$service_password" | write /secrets/postgres/service-password 0444
write /secrets/owner/staunch.toml 0400 <<END
database-url = "postgres://owner:$owner_password@$POSTGRES_HOST/staunch"
END

# NATS: one user for Staunch, another for the routes between the servers.
write /secrets/nats/users.conf 0444 <<END
authorization { users: [ { user: staunch, password: "$nats_password" } ] }
END
{
    printf 'authorization { user: route, password: "%s", timeout: 2 }\nroutes: [\n' "$route_password"
    for host in $NATS_HOSTS; do
        printf '  "nats://route:%s@%s:6222"\n' "$route_password" "$host"
    done
    printf ']\n'
} | write /secrets/nats/routes.conf 0444

# The nodes.
secret secrets-key | write /secrets/node/secrets.key 0400
secret admin-password | write /secrets/node/admin-password 0400
printf '%s\n' "$api_key" | write /secrets/node/api-key 0400
write /secrets/node/staunch.toml 0400 <<END
nats-url = "$servers"
database-url = "postgres://staunch:$service_password@$POSTGRES_HOST/staunch"
api-key = "$api_key"
metrics-key = "$metrics_key"
secrets-key-file = "/secrets/node/secrets.key"
admin-name = "admin"
admin-password-file = "/secrets/node/admin-password"
END

# Those who watch.
printf '%s' "$metrics_key" | write /secrets/prometheus/metrics-key 0444
# The links of the alerts lead to the book that the nodes show.
book=$RUNBOOKS_URL
while [ "$book" != "${book%/}" ]; do book=${book%/}; done
# In a replacement, sed reads these three characters as something else.
book=$(printf '%s' "$book/docs/book" | sed 's/[&|\\]/\\&/g')
sed "s|http://localhost:5001/docs/book|$book|" /alerts.yaml |
    write /secrets/prometheus/alerts.yaml 0444
secret grafana-password | write /secrets/grafana/password 0444

echo "The secrets of this cluster are made. The API key: docker compose exec node-1 cat /secrets/node/api-key"
