-- Columns named `sealed` hold nonce | ciphertext | tag under the key file.
CREATE TABLE devices (
    id           TEXT    PRIMARY KEY NOT NULL,
    kind         INTEGER NOT NULL,               -- 1 static KEM key, 2 pre-shared key
    sealed       BLOB    NOT NULL,               -- the credential
    fingerprint  BLOB    NOT NULL UNIQUE,        -- keyed hash of the credential: finds one that is shared
    generation   INTEGER NOT NULL DEFAULT 1,     -- grows with each change of the credential
    revoked      INTEGER NOT NULL DEFAULT 0,
    client_ids   TEXT    NOT NULL DEFAULT '',    -- one a line
    modes        INTEGER NOT NULL,               -- bit n: mode n is allowed
    lowest_suite INTEGER,
    enrolled     INTEGER NOT NULL,               -- Unix seconds
    last_seen    INTEGER
) STRICT;

CREATE TABLE broker_keys (
    kid       BLOB    PRIMARY KEY NOT NULL,
    public    BLOB    NOT NULL,                  -- kem | group | pk_B | gx_B
    sealed    BLOB    NOT NULL,
    state     TEXT    NOT NULL CHECK (state IN ('current', 'next', 'retiring')),
    successor BLOB,                              -- h0 of the key after this one
    created   INTEGER NOT NULL
) STRICT;

-- Single values of the realm, such as the decoy secret.
CREATE TABLE secrets (
    name   TEXT PRIMARY KEY NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE TABLE ticket_keys (
    key_id  BLOB    PRIMARY KEY NOT NULL,
    sealed  BLOB    NOT NULL,
    created INTEGER NOT NULL
) STRICT;
