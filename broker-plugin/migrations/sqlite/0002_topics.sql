-- Topic rules of a device, one filter a line; NULL where those of the configuration count.
ALTER TABLE devices ADD COLUMN publish TEXT;
ALTER TABLE devices ADD COLUMN subscribe TEXT;
-- Grows with each change of the two: sessions under other rules end.
ALTER TABLE devices ADD COLUMN rules INTEGER NOT NULL DEFAULT 0;
