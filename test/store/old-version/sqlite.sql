create table sluice_migrations (id integer primary key, applied_at bigint not null);
create table users (
  id text primary key,
  name text not null unique,
  password text,
  created_at bigint not null,
  disabled_at bigint
);
create table tokens (
  id text primary key,
  user_id text not null references users (id),
  hash text not null unique,
  start text not null,
  label text,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
);
create index tokens_of_user on tokens (user_id);
create table groups (
  id text primary key,
  group_id text,
  user_id text not null,
  type text not null,
  name text not null,
  description text,
  renames text,
  state text not null check (state in ('pending', 'unresolved', 'owned')),
  created_at bigint not null,
  due_at bigint,
  check (state <> 'owned' or group_id is not null),
  check (state = 'owned' or due_at is not null)
);
create unique index one_group_a_name on groups (user_id, type, name) where state <> 'unresolved';
create unique index one_owner_a_group on groups (group_id) where state = 'owned';
create index claims_by_due on groups (due_at) where state <> 'owned';
create table assets (id text primary key, group_id text not null);
create index assets_of_group on assets (group_id);
create table revision (id integer primary key check (id = 1), value bigint not null);
insert into revision (id, value) values (1, 1);
create table secrets (name text primary key, value text not null);
create table upstream_places (
  action text not null,
  place integer not null,
  free_at bigint not null,
  lease_until bigint not null,
  taken_by text,
  primary key (action, place)
);
create table upstream_turns (
  action text not null,
  user_id text not null,
  served_at bigint not null,
  waits_until bigint not null,
  primary key (action, user_id)
);
alter table groups add column dated integer not null default 0;
create table text_usage (
  user_id text not null,
  token_id text not null,
  day text not null,
  model text not null,
  calls bigint not null,
  unreported bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  primary key (user_id, token_id, day, model)
);
create index text_usage_by_day on text_usage (day);
create table sessions (
  hash text primary key,
  user_id text not null references users (id),
  password_hash text not null,
  created_at bigint not null,
  idle_until bigint not null,
  ends_at bigint not null
);
create index sessions_of_user on sessions (user_id);
create index sessions_by_end on sessions (idle_until);
create table login_attempts (
  key text primary key,
  failures bigint not null,
  blocked_until bigint not null,
  forget_at bigint not null,
  counted_by text not null
);
create index login_attempts_by_end on login_attempts (forget_at);
create table face_verifications (
  id text primary key,
  user_id text not null,
  kind text not null,
  status text not null,
  state_hash text unique,
  token text,
  group_id text,
  created_at bigint not null,
  expires_at bigint not null,
  due_at bigint,
  lease_until bigint not null,
  asks bigint not null
);
create index face_verifications_by_due on face_verifications (kind, due_at) where due_at is not null;
create index face_verifications_by_age on face_verifications (created_at);
create table text_objects (
  kind text not null check (kind in ('response', 'conversation', 'item')),
  id text not null,
  user_id text not null,
  token_id text,
  upstream text not null,
  model text not null,
  created_at bigint not null,
  expires_at bigint not null,
  due_at bigint,
  primary key (kind, id)
);
create index text_objects_by_end on text_objects (expires_at);
create index text_objects_by_due on text_objects (due_at) where due_at is not null;
alter table groups add column ended_at bigint;
create table changes (
  revision bigint not null,
  kind text not null,
  key text not null,
  primary key (revision, kind, key)
);
create table audit_entries (
  id text primary key,
  at bigint not null,
  action text not null,
  user_id text,
  user_name text,
  token_id text,
  kind text,
  target text,
  address text,
  status integer,
  reason text,
  times bigint not null
);
create index audit_entries_by_time on audit_entries (at, id);
create table user_turns (user_id text primary key, turn bigint not null);
create index tokens_working on tokens (user_id, expires_at) where revoked_at is null;
create index tokens_by_revocation on tokens (revoked_at) where revoked_at is not null;
create index tokens_by_expiry on tokens (expires_at) where expires_at is not null;
create index face_verifications_of_user on face_verifications (user_id, expires_at);
create index tokens_by_age on tokens (user_id, created_at);
drop index tokens_of_user;
create table text_usage_batches (id text primary key, at bigint not null);
create table stored_responses (
  id text primary key,
  user_id text not null,
  previous_id text,
  item_bytes bigint not null,
  bytes bigint not null,
  bytes_before bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  response text not null
);
create index stored_responses_of_user on stored_responses (user_id, bytes_before);
create index stored_responses_by_end on stored_responses (expires_at);
create table stored_items (
  response_id text not null references stored_responses (id) on delete cascade,
  position bigint not null,
  id text not null,
  user_id text not null,
  is_output integer not null check (is_output in (0, 1)),
  json text not null,
  created_at bigint not null,
  primary key (response_id, position)
);
create index stored_items_of_user on stored_items (user_id, id, created_at);
alter table text_usage add column cost bigint;
create table event_sequence (id integer primary key check (id = 1), value bigint not null);
insert into event_sequence (id, value) values (1, 0);
create table events (
sequence bigint primary key,
id text not null unique,
user_id text not null,
type text not null,
data text not null,
at bigint not null
    );
create index events_of_user on events (user_id, sequence);
create index events_by_time on events (at);
create table webhooks (
id text primary key,
user_id text not null,
url text not null,
types text,
secret text not null,
created_at bigint not null,
delivered_at bigint,
failing_since bigint,
failures bigint not null,
paused_until bigint not null,
last_error text,
disabled_at bigint,
due_at bigint,
lease_until bigint not null,
lease_id text
    );
create index webhooks_of_user on webhooks (user_id, created_at);
create index webhooks_by_due on webhooks (due_at) where due_at is not null;
create index webhooks_leased on webhooks (lease_until) where lease_id is not null;
create table deliveries (
webhook_id text not null,
event_sequence bigint not null,
created_at bigint not null,
due_at bigint not null,
attempts bigint not null,
primary key (webhook_id, event_sequence)
    );
create index deliveries_by_age on deliveries (created_at);
create table callbacks (
id text primary key,
sequence bigint not null,
user_id text not null,
url text not null,
subject text not null,
body text not null,
created_at bigint not null,
due_at bigint not null,
lease_until bigint not null,
lease_id text,
attempts bigint not null
    );
create index callbacks_by_due on callbacks (due_at);
create index callbacks_of_subject on callbacks (subject, sequence);
create index callbacks_leased on callbacks (lease_until) where lease_id is not null;
create table delivery_turns (id integer primary key check (id = 1), turn bigint not null);
insert into delivery_turns (id, turn) values (1, 0);
create table idempotency_keys (
  user_id text not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  holder text not null,
  attempt text not null,
  attempted_at bigint not null,
  lease_until bigint not null,
  expires_at bigint not null,
  status integer,
  headers text,
  body text,
  primary key (user_id, route, key)
);
create index idempotency_keys_of_user on idempotency_keys (user_id, expires_at);
create index idempotency_keys_by_end on idempotency_keys (expires_at);
create table leases (name text primary key, holder text not null, lease_until bigint not null);
create table video_tasks (
id text primary key,
user_id text not null,
token_id text,
model text not null,
service_tier text not null,
pool text,
place bigint,
phase text not null check (phase in ('waiting', 'submitting', 'submitted', 'copying', 'ended')),
status text not null,
nonce bigint,
upstream_id text,
created_at bigint not null,
expires_at bigint not null,
claimed_at bigint,
submitted_at bigint,
freed_at bigint,
ended_at bigint,
lease_until bigint not null,
due_at bigint,
attempts bigint not null,
bytes bigint not null,
fields text not null,
result text,
task text,
final_task text,
request text,
check (phase <> 'waiting' or place is not null),
check (phase <> 'submitted' or upstream_id is not null)
    );
create index video_tasks_of_user on video_tasks (user_id, id);
create index video_tasks_waiting on video_tasks (pool, user_id, place) where phase = 'waiting';
create index video_tasks_running on video_tasks (pool, user_id) where phase in ('submitting', 'submitted');
create unique index video_tasks_by_upstream_id on video_tasks (upstream_id) where upstream_id is not null;
create unique index one_nonce_a_claim on video_tasks (user_id, nonce) where phase = 'submitting';
create index video_tasks_by_due on video_tasks (phase, due_at) where due_at is not null;
create index video_tasks_by_lease on video_tasks (lease_until) where phase = 'submitting';
create index video_tasks_by_expiry on video_tasks (expires_at) where phase = 'waiting';
create index video_tasks_by_end on video_tasks (ended_at) where phase = 'ended';
create table video_pools (
pool text primary key,
turn bigint not null,
pass bigint not null,
learnt bigint,
learnt_at bigint,
paused_until bigint not null,
pause_kind text,
pauses bigint not null,
mean_ms bigint,
used_at bigint not null
    );
create table video_turns (
pool text not null references video_pools (pool) on delete cascade,
user_id text not null,
pass bigint not null,
primary key (pool, user_id)
    );
alter table text_usage add column video_seconds bigint;
alter table video_tasks add column told text;
create table files (
key text primary key,
user_id text not null,
kind text not null check (kind in ('upload', 'result')),
bytes bigint not null,
created_at bigint not null,
expires_at bigint not null
    );
create index files_of_user on files (user_id, kind, expires_at);
create index files_by_end on files (expires_at);
alter table video_turns add column stride bigint not null default 0;
create index video_pools_by_use on video_pools (used_at);
create table asset_watches (
  asset_id text primary key,
  group_id text not null,
  user_id text not null,
  created_at bigint not null,
  due_at bigint not null,
  polls bigint not null
);
create index asset_watches_by_due on asset_watches (due_at);
insert into sluice_migrations (id, applied_at) values (1, 1795703219954);
insert into sluice_migrations (id, applied_at) values (2, 1795703219954);
insert into sluice_migrations (id, applied_at) values (3, 1795703219954);
insert into sluice_migrations (id, applied_at) values (4, 1795703219954);
insert into sluice_migrations (id, applied_at) values (5, 1795703219954);
insert into sluice_migrations (id, applied_at) values (6, 1795703219954);
insert into sluice_migrations (id, applied_at) values (7, 1795703219954);
insert into sluice_migrations (id, applied_at) values (8, 1795703219954);
insert into sluice_migrations (id, applied_at) values (9, 1795703219954);
insert into sluice_migrations (id, applied_at) values (10, 1795703219954);
insert into sluice_migrations (id, applied_at) values (11, 1795703219954);
insert into sluice_migrations (id, applied_at) values (12, 1795703219954);
insert into sluice_migrations (id, applied_at) values (13, 1795703219954);
insert into sluice_migrations (id, applied_at) values (14, 1795703219954);
insert into sluice_migrations (id, applied_at) values (15, 1795703219954);
insert into sluice_migrations (id, applied_at) values (16, 1795703219954);
insert into sluice_migrations (id, applied_at) values (17, 1795703219954);
insert into sluice_migrations (id, applied_at) values (18, 1795703219954);
insert into sluice_migrations (id, applied_at) values (19, 1795703219954);
insert into sluice_migrations (id, applied_at) values (20, 1795703219954);
insert into sluice_migrations (id, applied_at) values (21, 1795703219954);
insert into sluice_migrations (id, applied_at) values (22, 1795703219954);
insert into sluice_migrations (id, applied_at) values (23, 1795703219954);
insert into users (id, name, password, created_at) values ('dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', '$argon2id$v=19$m=19456,t=2,p=1$bi5n9BanPk8fddAeLuyPXA$EV/SxcEIuRUz1QcVJloxeh9WQ2xm7ksHZMPzNQtzSeM', 1795703221118);
insert into users (id, name, created_at) values ('2c7a6e65-643d-4552-8ac5-5ce23828025f', 'bob', 1795703221240);
insert into users (id, name, created_at, disabled_at) values ('13517fbc-8648-4a4b-8086-13294ff85207', 'ANN', 1795703221405, 1795703225795);
insert into asset_watches (asset_id, group_id, user_id, created_at, due_at, polls) values ('asset-20261126142702-u0vvy', 'group-20261126142701-00000', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 1795703222045, 1795703225045, 0);
insert into assets (id, group_id) values ('asset-20261126142702-u0vvy', 'group-20261126142701-00000');
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('3f37247c-62bd-41cf-acfb-8be00716dbe0', 1795703221126, 'user.create', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('bfa42fb6-54ba-4eb1-be0c-d69a1d438ebf', 1795703221243, 'user.create', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'bob', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('990331c0-0ff6-46f5-82a7-ceef3bbcbee6', 1795703221410, 'user.create', '13517fbc-8648-4a4b-8086-13294ff85207', 'ANN', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('62b2a4da-f493-42d4-a644-5bf86b5e41ec', 1795703221506, 'token.create', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', 'token', 'fa616e33-bdab-4716-8b6b-d382ade271ae', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('b87c8b8d-6100-418b-9d56-1f6e2f0b7697', 1795703221595, 'token.create', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'bob', 'token', 'e39eaa68-3b38-4eb5-b858-d7bfccf9b4ac', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('62d67c2d-67f6-4361-9b69-bbe681e34b46', 1795703221780, 'token.create', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'bob', 'token', '1d0d31e6-12b9-41d5-8c48-93a8c2362b44', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('bdfcf0b4-7787-4b7f-8381-69b73449fa2e', 1795703221978, 'group.create', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', 'fa616e33-bdab-4716-8b6b-d382ade271ae', 'group', 'group-20261126142701-00000', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('6346b6a9-fa9d-4050-bed9-276ecad1ebc8', 1795703222037, 'group.create', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'bob', 'e39eaa68-3b38-4eb5-b858-d7bfccf9b4ac', 'group', 'group-20261126142702-f0fxz', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('966b90c6-f371-4161-b82b-6c001b089f56', 1795703222044, 'asset.create', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', 'fa616e33-bdab-4716-8b6b-d382ade271ae', 'asset', 'asset-20261126142702-u0vvy', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('864262f8-3a79-4a78-8f92-d021ee3339c3', 1795703222167, 'session.login', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('632154c7-f03c-4846-bdbb-c7dbf56c37ea', 1795703222175, 'token.create', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', 'token', '1c7baa3d-0218-4e42-b0b3-2d09812b4f4c', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('1404e920-3e29-45e1-84bc-dd21eb43978d', 1795703222183, 'verification.create', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', 'verification', 'verification-20261126142702-138f694e2117b64e', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, token_id, kind, target, address, times) values ('c74401c2-6fac-4361-b2ba-e31ff27a96b6', 1795703222209, 'upload.create', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'Ann', 'fa616e33-bdab-4716-8b6b-d382ade271ae', 'upload', 'up_d440711fe041fafec732bf49400169c1', '127.0.0.1', 1);
insert into audit_entries (id, at, action, user_id, user_name, address, times) values ('ce353f2d-deb6-4b8f-bb3b-129232ec7c7b', 1795703225801, 'user.disable', '13517fbc-8648-4a4b-8086-13294ff85207', 'ANN', 'admin', 1);
insert into audit_entries (id, at, action, user_id, user_name, kind, target, address, times) values ('b09e615a-aa6e-4bc1-afce-c2c06504c401', 1795703225966, 'token.revoke', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'bob', 'token', '1d0d31e6-12b9-41d5-8c48-93a8c2362b44', 'admin', 1);
insert into changes (revision, kind, key) values (2, 'token', 'aec5272e9c20397f270908ac14bba35b41154ba4b72b9631c20fa077757e69b2');
insert into changes (revision, kind, key) values (3, 'token', '5b7ced7bab3f40b07a5ee19645d1f18c3228a0bf3c067fc6cf0cf627e8e154c7');
insert into changes (revision, kind, key) values (4, 'token', 'a794f86280dc4123b8c97dba0094ca89eafe38d588103e3aa1ce5655b4b6df98');
insert into changes (revision, kind, key) values (5, 'groups', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed');
insert into changes (revision, kind, key) values (6, 'groups', '2c7a6e65-643d-4552-8ac5-5ce23828025f');
insert into changes (revision, kind, key) values (7, 'token', '8de8b565f21ac4dbdc6af5a98fe74ff739eae642e8873ce309e00b46285ce993');
insert into changes (revision, kind, key) values (8, 'user', 'ANN');
insert into changes (revision, kind, key) values (9, 'token', 'a794f86280dc4123b8c97dba0094ca89eafe38d588103e3aa1ce5655b4b6df98');
delete from delivery_turns;
insert into delivery_turns (id, turn) values (1, 0);
delete from event_sequence;
insert into event_sequence (id, value) values (1, 6);
insert into events (sequence, id, user_id, type, data, at) values (1, 'evt_625d6a27fbf04b8db7ee5fbbf6e94218', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'asset.processing', '{"Id":"asset-20261126142702-u0vvy","GroupId":"group-20261126142701-00000","Status":"Processing"}', 1795703222045);
insert into events (sequence, id, user_id, type, data, at) values (2, 'evt_80c479f57acf4bb5b25fb7f801d75212', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'face_verification.waiting_user', '{"verification_id":"verification-20261126142702-138f694e2117b64e","status":"waiting_user"}', 1795703222178);
insert into events (sequence, id, user_id, type, data, at) values (3, 'evt_9011bf884683439f91d0447b16e0e233', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'video.queued', '{"id":"cgt-20261126142702-6mbraz1dxcere4myfp6g","model":"doubao-seedance-2-0-260128","status":"queued","error":null,"created_at":1795703222,"updated_at":1795703222,"service_tier":"default","execution_expires_after":172800}', 1795703222221);
insert into events (sequence, id, user_id, type, data, at) values (4, 'evt_3ca73c0d556b4d528f406d3b14308fe0', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'video.running', '{"id":"cgt-20261126142702-6mbraz1dxcere4myfp6g","model":"doubao-seedance-2-0-260128","status":"running","error":null,"created_at":1795703222,"updated_at":1795703222,"service_tier":"default","execution_expires_after":172800}', 1795703225234);
insert into events (sequence, id, user_id, type, data, at) values (5, 'evt_6d445beb13324ddc866d07f368e91979', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'video.succeeded', '{"id":"cgt-20261126142702-6mbraz1dxcere4myfp6g","model":"doubao-seedance-2-0-260128","status":"succeeded","created_at":1795703222,"updated_at":1795703224,"content":{"video_url":"http://127.0.0.1:40253/api/files/results/cgt-20261126142702-6mbraz1dxcere4myfp6g-a0319f01.mp4?expires=1798295226&signature=Hh3VUu4jETpD2tItnq5sjgj8dBWAjU6tpxj_MvcWFaE"},"seed":11,"resolution":"720p","ratio":"16:9","duration":5,"framespersecond":24,"revised_prompt":"a cat Smooth camera movement, natural light.","usage":{"completion_tokens":108000,"total_tokens":108000},"service_tier":"default","execution_expires_after":172800,"generate_audio":true,"priority":0,"error":null}', 1795703225266);
insert into events (sequence, id, user_id, type, data, at) values (6, 'evt_810519561ea14002bac0b0be2b3cdd74', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'video.queued', '{"id":"cgt-20261126142705-qs509ke18b3a7m9y5j8b","model":"doubao-seedance-2-0-260128","status":"queued","error":null,"created_at":1795703225,"updated_at":1795703225,"service_tier":"default","execution_expires_after":172800}', 1795703225765);
insert into face_verifications (id, user_id, kind, status, created_at, expires_at, due_at, lease_until, asks) values ('verification-20261126142702-138f694e2117b64e', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'rest', 'waiting_user', 1795703222178, 1795705022000, 1795703237178, 0, 0);
insert into files (key, user_id, kind, bytes, created_at, expires_at) values ('uploads/up_d440711fe041fafec732bf49400169c1.png', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'upload', 8, 1795703222188, 1795789622208);
insert into files (key, user_id, kind, bytes, created_at, expires_at) values ('results/cgt-20261126142702-6mbraz1dxcere4myfp6g-a0319f01.mp4', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'result', 3139, 1795703225254, 1798295225250);
insert into groups (id, group_id, user_id, type, name, description, state, created_at, due_at, dated) values ('d9561f2d-12d3-4b89-823e-987d8b34207b', 'group-20261126142701-00000', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'AIGC', 'faces', 'of Ann', 'owned', 1795703221976, 1795703281958, 0);
insert into groups (id, group_id, user_id, type, name, state, created_at, due_at, dated) values ('f01949b1-4f10-42da-9d7f-818bcb5a3156', 'group-20261126142702-f0fxz', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'AIGC', 'faces', 'owned', 1795703222028, 1795703282021, 0);
insert into idempotency_keys (user_id, route, key, fingerprint, holder, attempt, attempted_at, lease_until, expires_at, status, headers, body) values ('dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'createVideoTask', 'first', '7fb01b4f87ddeb7bafe18562ef48e58ae82b696461aeb48e524637937ca609f1', '7ce024c4-f9d8-4d24-a93d-1acf8dbdff96', '7ce024c4-f9d8-4d24-a93d-1acf8dbdff96', 1795703222212, 1795703282212, 1795789622223, 200, '{"content-type":"application/json"}', 'eyJpZCI6ImNndC0yMDI2MTEyNjE0MjcwMi02bWJyYXoxZHhjZXJlNG15ZnA2ZyJ9');
delete from revision;
insert into revision (id, value) values (1, 9);
insert into secrets (name, value) values ('session', 'awK61NeP0n8zVgFYSPL7cN7iCEhQIuD1xVC9j_GSMdQ');
insert into secrets (name, value) values ('video', '1cOs9_4NoDXkCZZueouBdItd31-ndg9wUChc4yRqBS4');
insert into sessions (hash, user_id, password_hash, created_at, idle_until, ends_at) values ('a0192f78ba937442b4331924fe0148e82ecae11180ef1e0ba8d8be4cf155b888', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', '0057f0ce305a5ed73596761968649569687a39c185db999ccb76f55f0c40612b', 1795703222166, 1795705022166, 1795746422166);
insert into text_objects (kind, id, user_id, token_id, upstream, model, created_at, expires_at) values ('item', 'msg_1a7c234525f7c6a1cda5ed3b', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'fa616e33-bdab-4716-8b6b-d382ade271ae', 'http://127.0.0.1:44455/v1', 'doubao-seed-emulated', 1795703222115, 1798295222115);
insert into text_objects (kind, id, user_id, token_id, upstream, model, created_at, expires_at) values ('response', 'resp_37cde960a6fffd70273b6ab8', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'fa616e33-bdab-4716-8b6b-d382ade271ae', 'http://127.0.0.1:44455/v1', 'doubao-seed-emulated', 1795703222115, 1798295222115);
insert into text_usage (user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens) values ('2c7a6e65-643d-4552-8ac5-5ce23828025f', 'e39eaa68-3b38-4eb5-b858-d7bfccf9b4ac', '2026-11-26', 'doubao-seed-emulated', 1, 0, 8, 0, 61, 0);
insert into text_usage (user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens) values ('dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'fa616e33-bdab-4716-8b6b-d382ade271ae', '2026-11-26', 'doubao-seed-emulated', 4, 0, 32, 0, 244, 0);
insert into text_usage (user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens, video_seconds) values ('dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'fa616e33-bdab-4716-8b6b-d382ade271ae', '2026-11-26', 'doubao-seedance-2-0-260128', 1, 0, 0, 0, 108000, 0, 5);
insert into text_usage_batches (id, at) values ('3e6ba36c-0736-456c-9c17-da0523708d2e', 1795703222122);
insert into tokens (id, user_id, hash, start, label, created_at) values ('fa616e33-bdab-4716-8b6b-d382ade271ae', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'aec5272e9c20397f270908ac14bba35b41154ba4b72b9631c20fa077757e69b2', 'sk-GrHc09', 'laptop', 1795703221502);
insert into tokens (id, user_id, hash, start, created_at, expires_at) values ('e39eaa68-3b38-4eb5-b858-d7bfccf9b4ac', '2c7a6e65-643d-4552-8ac5-5ce23828025f', '5b7ced7bab3f40b07a5ee19645d1f18c3228a0bf3c067fc6cf0cf627e8e154c7', 'sk-Pji4Zh', 1795703221593, 4073500800000);
insert into tokens (id, user_id, hash, start, label, created_at, revoked_at) values ('1d0d31e6-12b9-41d5-8c48-93a8c2362b44', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'a794f86280dc4123b8c97dba0094ca89eafe38d588103e3aa1ce5655b4b6df98', 'sk-ABJ9WZ', 'old', 1795703221774, 1795703225959);
insert into tokens (id, user_id, hash, start, label, created_at) values ('1c7baa3d-0218-4e42-b0b3-2d09812b4f4c', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', '8de8b565f21ac4dbdc6af5a98fe74ff739eae642e8873ce309e00b46285ce993', 'sk-hSQjNf', 'made in the console', 1795703222172);
insert into user_turns (user_id, turn) values ('dec1a0bf-6866-4c97-8461-07cc6e4134ed', 6);
insert into user_turns (user_id, turn) values ('2c7a6e65-643d-4552-8ac5-5ce23828025f', 3);
insert into user_turns (user_id, turn) values ('13517fbc-8648-4a4b-8086-13294ff85207', 1);
insert into video_tasks (id, user_id, token_id, model, service_tier, pool, phase, status, nonce, upstream_id, created_at, expires_at, claimed_at, submitted_at, freed_at, ended_at, lease_until, attempts, bytes, fields, result, task, told) values ('cgt-20261126142702-6mbraz1dxcere4myfp6g', 'dec1a0bf-6866-4c97-8461-07cc6e4134ed', 'fa616e33-bdab-4716-8b6b-d382ade271ae', 'doubao-seedance-2-0-260128', 'default', 'doubao-seedance-2-0-260128', 'ended', 'succeeded', 172143, 'cgt-20261126142702-00000', 1795703222214, 1795876022214, 1795703222214, 1795703222221, 1795703225234, 1795703225266, 0, 1, 0, '{"own":{},"shown":{}}', '{"video":"results/cgt-20261126142702-6mbraz1dxcere4myfp6g-a0319f01.mp4","expiresAt":1798295225250}', '{"id":"cgt-20261126142702-00000","model":"doubao-seedance-2-0-260128","status":"succeeded","created_at":1795703222,"updated_at":1795703224,"content":{"video_url":"http://127.0.0.1:44455/tos/ark-content-generation/doubao-seedance-2-0-260128/9570db3c10f070283e29bd00f2558498e1793191.mp4?X-Tos-Algorithm=TOS4-HMAC-SHA256&X-Tos-Credential=AKLTEMULATOR%2F20261126%2Fcn-beijing%2Ftos%2Frequest&X-Tos-Date=20261126T142704Z&X-Tos-Expires=86400&X-Tos-Signature=ccea8631646df360dc6959b6411dc5254c8cb5b952ebd772cb43ce994ba82dfe&X-Tos-SignedHeaders=host"},"seed":11,"resolution":"720p","ratio":"16:9","duration":5,"framespersecond":24,"revised_prompt":"a cat Smooth camera movement, natural light.","usage":{"completion_tokens":108000,"total_tokens":108000},"service_tier":"default","execution_expires_after":172143,"generate_audio":true,"priority":0,"safety_identifier":"f00f3d068fdc49d7bba1f6cc6e2351461ece64050c91d1813235771e2ce8e3e7","error":null}', 'succeeded');
insert into video_tasks (id, user_id, token_id, model, service_tier, pool, phase, status, nonce, upstream_id, created_at, expires_at, claimed_at, submitted_at, lease_until, due_at, attempts, bytes, fields, told) values ('cgt-20261126142705-qs509ke18b3a7m9y5j8b', '2c7a6e65-643d-4552-8ac5-5ce23828025f', 'e39eaa68-3b38-4eb5-b858-d7bfccf9b4ac', 'doubao-seedance-2-0-260128', 'default', 'doubao-seedance-2-0-260128', 'submitted', 'queued', 172545, 'cgt-20261126142705-f0fxz', 1795703225761, 1795876025761, 1795703225761, 1795703225765, 1795703315761, 1795703228765, 1, 0, '{"own":{},"shown":{}}', 'queued');
