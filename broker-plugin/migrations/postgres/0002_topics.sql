-- As in ../sqlite.
ALTER TABLE devices ADD COLUMN publish TEXT;
ALTER TABLE devices ADD COLUMN subscribe TEXT;
ALTER TABLE devices ADD COLUMN rules BIGINT NOT NULL DEFAULT 0;

DROP TRIGGER changed ON devices;
CREATE TRIGGER changed
    AFTER UPDATE OF sealed, generation, revoked, client_ids, modes, lowest_suite, rules OR DELETE ON devices
    FOR EACH STATEMENT EXECUTE FUNCTION kemqtt_changed();
