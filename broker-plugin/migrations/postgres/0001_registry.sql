-- The tables of ../sqlite, for gateways that share one registry. Columns named `sealed` hold nonce | ciphertext | tag
-- under the key file. `rowid` is what SQLite has by itself: the order of insertion.
CREATE TABLE devices (
    rowid        BIGINT GENERATED ALWAYS AS IDENTITY,
    id           TEXT   PRIMARY KEY,
    kind         BIGINT NOT NULL,
    sealed       BYTEA  NOT NULL,
    fingerprint  BYTEA  NOT NULL UNIQUE,
    generation   BIGINT NOT NULL DEFAULT 1,
    revoked      BIGINT NOT NULL DEFAULT 0,
    client_ids   TEXT   NOT NULL DEFAULT '',
    modes        BIGINT NOT NULL,
    lowest_suite BIGINT,
    enrolled     BIGINT NOT NULL,
    last_seen    BIGINT
);

CREATE TABLE broker_keys (
    rowid     BIGINT GENERATED ALWAYS AS IDENTITY,
    kid       BYTEA  PRIMARY KEY,
    public    BYTEA  NOT NULL,
    sealed    BYTEA  NOT NULL,
    state     TEXT   NOT NULL CHECK (state IN ('current', 'next', 'retiring')),
    successor BYTEA,
    created   BIGINT NOT NULL
);

CREATE TABLE secrets (
    rowid  BIGINT GENERATED ALWAYS AS IDENTITY,
    name   TEXT   PRIMARY KEY,
    sealed BYTEA  NOT NULL
);

CREATE TABLE ticket_keys (
    rowid   BIGINT GENERATED ALWAYS AS IDENTITY,
    key_id  BYTEA  PRIMARY KEY,
    sealed  BYTEA  NOT NULL,
    created BIGINT NOT NULL
);

-- Every gateway listens: a revocation or a new key counts on all of them at once.
CREATE FUNCTION kemqtt_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('kemqtt', TG_TABLE_NAME);
    RETURN NULL;
END
$$;

CREATE TRIGGER changed AFTER UPDATE OF sealed, generation, revoked, client_ids, modes, lowest_suite OR DELETE ON devices
    FOR EACH STATEMENT EXECUTE FUNCTION kemqtt_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON broker_keys
    FOR EACH STATEMENT EXECUTE FUNCTION kemqtt_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON ticket_keys
    FOR EACH STATEMENT EXECUTE FUNCTION kemqtt_changed();
