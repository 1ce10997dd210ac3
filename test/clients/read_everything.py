"""An app in Python: gets a token with its credentials and reads every endpoint.

Knows the service only through the generated clients; the token of a signed-in person is given.
Prints what it saw as JSON.
"""

import json
import sys

import schultor_idm as idm
import schultor_schulconnex as schulconnex
import schultor_sign_on as sign_on
from schultor_idm.exceptions import NotFoundException

url, client_id, client_secret, school_id, group_id, person_id, user_id, hidden_id, user_token = sys.argv[1:]

basic = sign_on.Configuration(host=url, username=client_id, password=client_secret)
tokens = sign_on.TokensApi(sign_on.ApiClient(basic))
scopes = ["schools", "users", "groups", "people"]
token = tokens.issue_token(
    grant_type="client_credentials",
    scope=" ".join(f"urn:schultor:idm:v1:{scope}:read" for scope in scopes),
)

api = idm.ApiClient(idm.Configuration(host=url, access_token=token.access_token))


def person_records(access_token):
    return schulconnex.PersonRecordsApi(
        schulconnex.ApiClient(schulconnex.Configuration(host=url, access_token=access_token))
    )


schools, users, groups, people, changes = (
    make(api) for make in (idm.SchoolsApi, idm.UsersApi, idm.GroupsApi, idm.PeopleApi, idm.ChangesApi)
)


def plain(value):
    return [plain(entry) for entry in value] if isinstance(value, list) else value.to_dict()


def refusal(read, id):
    try:
        read(id)
    except NotFoundException as refused:
        return json.loads(refused.body)["message"]


print(
    json.dumps(
        {
            "token": {"type": token.token_type, "expiresIn": token.expires_in, "scope": token.scope},
            "listSchools": plain(schools.list_schools()),
            "getSchool": plain(schools.get_school(school_id)),
            "listSchoolUsers": plain(users.list_school_users(school_id)),
            "getUser": plain(users.get_user(user_id)),
            "listSchoolGroups": plain(groups.list_school_groups(school_id)),
            "listSchoolGroupsWithDeleted": plain(groups.list_school_groups(school_id, show_deleted=True)),
            "getGroup": plain(groups.get_group(group_id)),
            "listSchoolPeople": plain(people.list_school_people(school_id)),
            "listSchoolPeopleWithDeleted": plain(people.list_school_people(school_id, show_deleted=True)),
            "getPerson": plain(people.get_person(person_id)),
            "listPersonenInfo": plain(person_records(token.access_token).list_personen_info()),
            "getPersonInfo": plain(person_records(user_token).get_person_info()),
            "listChanges": plain(changes.list_changes()),
            "hiddenPerson": refusal(people.get_person, hidden_id),
        },
        # Enums and dates are values of their own in a model.
        default=str,
    )
)
