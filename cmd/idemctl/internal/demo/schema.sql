-- The ledger of a small shop.

-- One row for each task that is done, by task ID.
CREATE TABLE processed_tasks (
    task_id      TEXT PRIMARY KEY,
    processed_at TEXT NOT NULL
);

-- One row for each payment event that is done, written with the payment itself.
CREATE TABLE processed_events (
    event_id     TEXT PRIMARY KEY,
    processed_at TEXT NOT NULL
);
CREATE TABLE payments (
    event_id   TEXT NOT NULL UNIQUE,
    amount     INTEGER NOT NULL,
    created_at TEXT NOT NULL
);

-- Transfers are claimed first and finished later.
CREATE TABLE transfers (
    transfer_id TEXT PRIMARY KEY,
    status      TEXT NOT NULL,
    claimed_at  TEXT NOT NULL,
    done_at     TEXT
);

-- Nothing stops a second row of one award here.
CREATE TABLE awards (
    award_id   TEXT NOT NULL,
    points     INTEGER NOT NULL,
    awarded_at TEXT NOT NULL
);
CREATE INDEX awards_award_id ON awards (award_id);

-- Webhooks remember which payload they were.
CREATE TABLE webhooks (
    delivery_id TEXT PRIMARY KEY,
    payload_md5 TEXT NOT NULL,
    received_at TEXT NOT NULL
);
